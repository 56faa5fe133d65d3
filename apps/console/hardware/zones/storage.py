"""How the machines of a zone come to the platform's files: the card on its page, the form, and the endpoint."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.clusters.choices import StorageKind
from apps.clusters.models import Zone, ZoneStorage
from apps.clusters.storage_checks import StorageCheck, Verdict, checks, storage_of_zone
from apps.common.access import on_platform, requires
from apps.common.api import ScopedView
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done, refused
from apps.common.permissions import Permission as P
from apps.console.hardware.storage_words import problem_words
from apps.console.kit.api import checked
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
FORM = "console/zones/storage_form.html"


class StorageForm(forms.Form):
    kind = forms.ChoiceField(label=gettext_lazy("How the machines come to the files"), choices=StorageKind.choices)
    source = forms.CharField(
        label=gettext_lazy("Server and folder"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("What each machine mounts at its data folder, as in nas.example.net:/export/plstack."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    dataset_cache_gib = forms.IntegerField(
        label=gettext_lazy("Copies of datasets on each machine, at most (GiB)"),
        required=False,
        min_value=0,
        max_value=services.MOST_CACHE_GIB,
        help_text=gettext_lazy(
            "Joined machines copy the datasets of work to their own disk before it starts. The copies that were used "
            "longest ago make room for new ones. 0: datasets are read from the storage."
        ),
    )

    def clean_dataset_cache_gib(self) -> int:
        return self.cleaned_data["dataset_cache_gib"] or 0


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def change(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    zone = clusters.zone(request.actor, zone_id)
    former = storage_of_zone(zone)
    form = StorageForm(request.POST or None, initial=_initial(former))
    context = {"form": form, "zone": zone}
    if request.method != "POST":
        return render(request, FORM, context)
    if form.is_valid():
        try:
            services.set_zone_storage(request.actor, zone_id=zone_id, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, summary(checks(zone, db_now())), "console:zone", zone_id)
    return refused(request, FORM, context)


def _initial(storage: ZoneStorage) -> dict[str, Any]:
    return {"kind": storage.kind, "source": storage.source, "dataset_cache_gib": storage.dataset_cache_gib}


def storage_card(zone: Zone) -> dict[str, Any]:
    """For the zone's page: what was said, and each node with the words for what it told."""
    found = checks(zone, db_now())
    return {
        "storage": storage_of_zone(zone),
        "storage_rows": [{"check": each, "words": words(each), "bad": is_bad(each)} for each in found],
        "storage_summary": summary(found) if found else "",
    }


def is_bad(check: StorageCheck) -> bool:
    return check.verdict in (Verdict.MISSING, Verdict.ELSEWHERE, Verdict.UNUSABLE)


def summary(found: list[StorageCheck]) -> str:
    bad = sum(is_bad(each) for each in found)
    if not bad:
        return _("No node tells of anything else.")
    return _("Nodes that do not have the files from there: %(bad)s of %(all)s.") % {"bad": bad, "all": len(found)}


def words(check: StorageCheck) -> str:
    if check.verdict is Verdict.UNUSABLE and check.probe is not None:
        return problem_words(check.probe)
    where = {"kind": check.told.kind or "—", "source": check.told.source or "—", "root": check.told.root}
    return {
        Verdict.HERE: _("%(kind)s: %(source)s at %(root)s"),
        Verdict.ELSEWHERE: _("has them from elsewhere, %(source)s (%(kind)s) at %(root)s: drain it to change that"),
        Verdict.MISSING: _("does not have the files at %(root)s: nothing new starts there"),
        Verdict.SILENT: _("not heard from"),
        Verdict.UNTOLD: _("has the folder itself, or an older agent that does not tell"),
    }[check.verdict] % where


class StorageCheckOut(serializers.Serializer[StorageCheck]):
    node = serializers.CharField(source="node.name")
    verdict = serializers.ChoiceField(choices=[each.value for each in Verdict])
    mounted_from = serializers.CharField(source="told.source")
    mounted_at = serializers.CharField(source="told.root")
    command = serializers.CharField(help_text="What mends it on that machine, as root; empty: nothing, or unknown.")


class ZoneStorageIn(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=StorageKind.choices)
    source = serializers.CharField(  # type: ignore[assignment]  # the field is called so
        max_length=200, required=False, allow_blank=True, default="", help_text="Of NFS: server:/path."
    )

    dataset_cache_gib = serializers.IntegerField(
        min_value=0,
        max_value=services.MOST_CACHE_GIB,
        required=False,
        help_text="The most that each joined machine keeps of copies of datasets; 0: none. Left out: as it was.",
    )


class ZoneStorageOut(ZoneStorageIn):
    nodes = StorageCheckOut(many=True)


@extend_schema(tags=["console: zones"], responses=ZoneStorageOut)
class ZoneStorageDetail(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    def get(self, request: Request, zone_id: UUID) -> Response:
        """How the zone's machines come to the platform's files, and what each last told of them."""
        zone = clusters.zone(self.actor, zone_id)
        found = storage_of_zone(zone)
        data = {**_initial(found), "nodes": checks(zone, db_now())}
        return Response(ZoneStorageOut(data).data)

    @extend_schema(request=ZoneStorageIn)
    def put(self, request: Request, zone_id: UUID) -> Response:
        """Nothing is mounted by it: nodes are compared with it."""
        services.set_zone_storage(self.actor, zone_id=zone_id, **checked(ZoneStorageIn(data=request.data)))
        return self.get(request, zone_id)
