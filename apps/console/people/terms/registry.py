"""How much an organisation may keep in the registry of container images: the form, the page's part and the endpoint."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
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
from apps.console.kit.quotas import LimitsForm
from apps.console.kit.requests import StaffRequest
from apps.console.people.organisations import selectors as organisations
from apps.console.people.organisations.views import frame
from apps.console.people.terms.forms import CapacityForm
from apps.console.people.terms.run_times import RunTimesForm
from apps.registry.distribution.capacity import MOST_GIB, Capacity, capacity_of, set_capacity
from apps.workloads.time_limits import limit_lines

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
PAGE = "console/organisations/quotas.html"


@requires(MANAGE)
@require_POST
def capacity(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """What it may keep; refused, the page of its quotas shows why."""
    actor = request.actor
    organisation = organisations.get(actor, organisation_id)
    form = CapacityForm(request.POST, capacity=capacity_of(organisation_id))
    if form.is_valid():
        try:
            set_capacity(actor, organisation_id=organisation_id, gib=form.cleaned_data["capacity_gib"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The capacity was set."), "console:organisation_quotas", organisation_id)
    limits = LimitsForm(None, lines=organisations.limits(actor, organisation_id))
    context = {**frame(actor, organisation, "quotas"), "form": limits, "rows": limits.rows(), "registry": form}
    return refused(request, PAGE, {**context, "run_times": RunTimesForm(lines=limit_lines(organisation_id))})


class CapacityIn(serializers.Serializer[Any]):
    capacity_gib = serializers.IntegerField(
        min_value=0, max_value=MOST_GIB, allow_null=True, help_text="Null: as for the platform."
    )


class OrganisationCapacityOut(serializers.Serializer[Capacity]):
    """Bytes. `own`: it was set for this organisation."""

    used = serializers.IntegerField(read_only=True)
    limit = serializers.IntegerField(read_only=True)
    own = serializers.BooleanField(read_only=True)


@extend_schema(tags=["console: organisations"])
class OrganisationCapacity(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=OrganisationCapacityOut)
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """What it keeps in the registry of container images, and may keep."""
        organisations.get(self.actor, organisation_id)
        return Response(OrganisationCapacityOut(capacity_of(organisation_id)).data)

    @extend_schema(request=CapacityIn, responses=OrganisationCapacityOut)
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Set what it may keep. What is there stays; beyond it nothing more is pushed."""
        given = CapacityIn(data=request.data)
        given.is_valid(raise_exception=True)
        found = set_capacity(self.actor, organisation_id=organisation_id, gib=given.validated_data["capacity_gib"])
        return Response(OrganisationCapacityOut(found).data)
