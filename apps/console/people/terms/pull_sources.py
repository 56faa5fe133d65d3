"""From which registries people of one organisation may pull images: the form, its page and the endpoint."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform, requires
from apps.common.api import ScopedView
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done, refused
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.people.organisations import selectors as organisations
from apps.console.people.organisations.views import frame
from apps.registry.transfers.services import set_sources
from apps.registry.transfers.sources import hosts_of, own_hosts

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
PAGE = "console/organisations/pull_sources.html"
STANDARD, OWN = "standard", "own"
LONGEST = 20_000


class SourcesForm(forms.Form):
    which = forms.ChoiceField(label=gettext_lazy("May pull from"), widget=forms.RadioSelect)
    hosts = forms.CharField(
        label=gettext_lazy("Registries"),
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "pl-code"}),
        help_text=gettext_lazy(
            "One a line, as in docker.io, registry.example.edu:5000 or *.example.edu; * for all. Empty: none."
        ),
    )

    def __init__(self, data: Any = None, *, organisation_id: UUID) -> None:
        own = own_hosts(organisation_id)
        initial = {"which": STANDARD if own is None else OWN, "hosts": "\n".join(own or [])}
        super().__init__(data, initial=initial)
        shown = {"hosts": ", ".join(settings.IMAGE_SOURCES) or "–"}
        which: Any = self.fields["which"]
        which.choices = [
            (STANDARD, gettext("What the platform allows: %(hosts)s") % shown),
            (OWN, gettext("These alone")),
        ]

    def wanted(self) -> str | None:
        """None: as for the platform."""
        hosts: str = self.cleaned_data["hosts"]
        return None if self.cleaned_data["which"] == STANDARD else hosts


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def pull_sources(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = organisations.get(request.actor, organisation_id)
    form = SourcesForm(request.POST or None, organisation_id=organisation_id)
    context = {**frame(request.actor, organisation, "quotas"), "form": form}
    if request.method != "POST":
        return render(request, PAGE, context)
    request.actor.require(P.PLATFORM_TENANTS_MANAGE)
    if form.is_valid():
        try:
            set_sources(request.actor, organisation_id=organisation_id, hosts=form.wanted())
        except DomainError as error:
            show_error(form, error)
        else:
            told = gettext("The registries to pull from were set.")
            return done(request, told, "console:organisation_quotas", organisation_id)
    return refused(request, PAGE, context)


class PullSourcesIn(serializers.Serializer[Any]):
    hosts = serializers.ListField(
        child=serializers.CharField(max_length=300),
        allow_null=True,
        max_length=100,
        help_text="As in ghcr.io, registry.example.edu:5000 or *.example.edu; * for all. Null: as for the platform.",
    )


class PullSourcesOut(serializers.Serializer[Any]):
    """`own`: they were set for this organisation."""

    hosts = serializers.ListField(child=serializers.CharField(), read_only=True)
    own = serializers.BooleanField(read_only=True)


@extend_schema(tags=["console: organisations"])
class OrganisationPullSources(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=PullSourcesOut)
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """From which registries its people may pull images into that of the platform."""
        organisations.get(self.actor, organisation_id)
        return self._told(organisation_id)

    @extend_schema(request=PullSourcesIn, responses=PullSourcesOut)
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Set them. What is on its way from elsewhere ends when it is next begun."""
        given = PullSourcesIn(data=request.data)
        given.is_valid(raise_exception=True)
        hosts = given.validated_data["hosts"]
        wanted = None if hosts is None else "\n".join(hosts)
        set_sources(self.actor, organisation_id=organisation_id, hosts=wanted)
        return self._told(organisation_id)

    def _told(self, organisation_id: UUID) -> Response:
        own = own_hosts(organisation_id) is not None
        return Response(PullSourcesOut({"hosts": hosts_of(organisation_id), "own": own}).data)
