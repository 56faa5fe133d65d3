"""The check-up of a zone's Kubernetes cluster: the page, the button, and both as endpoints."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import selectors as clusters
from apps.clusters.choices import CheckupStatus
from apps.clusters.models import ClusterCheckup, KubernetesCluster, Zone
from apps.common.access import on_platform, requires
from apps.common.api import ScopedView
from apps.common.errors import Conflict
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.hardware.zones.doctor_words import TITLES, told
from apps.console.kit.requests import StaffRequest
from apps.workloads.hardware import cluster_doctor

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
VERBS = ("get", "list", "watch", "create", "patch", "delete")


@requires(VIEW)
@require_GET
def page(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    zone = clusters.zone(request.actor, zone_id)
    found = cluster_doctor.checkups(request.actor, zone_id)
    now = next((each for each in found if each.is_open), None)
    last = next((each for each in found if not each.is_open), None)
    context = {
        "zone": zone,
        "kubernetes": KubernetesCluster.objects.get(zone=zone),
        "now": now,
        "now_words": progress(now) if now is not None else {},
        "last": last,
        "result": result(last) if last is not None else {},
        "history": [history_row(each) for each in found if not each.is_open],
        "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE),
    }
    return render(request, "console/zones/doctor.html", context)


def progress(checkup: ClusterCheckup) -> dict[str, Any]:
    """What is looked at now, and how far that is."""
    steps = list(TITLES)
    place = steps.index(checkup.step) if checkup.step in steps else 0
    return {"title": TITLES.get(checkup.step, ""), "percent": round(100 * place / len(steps))}


def result(checkup: ClusterCheckup) -> dict[str, Any]:
    """The findings in words, what is bad first, and the table of rights."""
    rows = list(map(told, checkup.findings))
    order = {"fail": 0, "warn": 1, "unknown": 2}
    bad = sorted((row for row in rows if not row.is_good), key=lambda row: order.get(row.level, 3))
    return {
        "bad": bad,
        "good": [row for row in rows if row.is_good],
        "all": len(rows),
        "took_s": _took(checkup),
        "permissions": permission_rows(checkup.findings),
    }


def _took(checkup: ClusterCheckup) -> int | None:
    if checkup.ended_at is None or checkup.started_at is None:
        return None
    return round((checkup.ended_at - checkup.started_at).total_seconds())


def permission_rows(findings: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each resource with a cell for each verb: held, missing, or not needed."""
    table: list[Mapping[str, Any]] = next(
        (each["params"].get("table", []) for each in findings if each.get("check") == "permissions"), []
    )
    return [
        {"resource": row["resource"], "cells": [{"verb": verb, "held": row["verbs"].get(verb)} for verb in VERBS]}
        for row in table
    ]


def history_row(checkup: ClusterCheckup) -> dict[str, Any]:
    levels = [str(each.get("level")) for each in checkup.findings]
    counts = {level: levels.count(level) for level in ("ok", "warn", "fail", "unknown")}
    return {"checkup": checkup, **counts}


@requires(MANAGE)
@require_POST
def examine(request: StaffRequest, zone_id: UUID) -> HttpResponse:
    try:
        cluster_doctor.order_checkup(request.actor, zone_id=zone_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:zone_doctor", zone_id)
    return done(request, _("The cluster is being examined."), "console:zone_doctor", zone_id)


def doctor_card(zone: Zone) -> dict[str, Any]:
    """For the zone's page: how the last check-up went."""
    last = ClusterCheckup.objects.filter(zone=zone, status=CheckupStatus.DONE).order_by("-created_at").first()
    return {"checkup": history_row(last) if last is not None else None}


class CheckupFindingOut(serializers.Serializer[Any]):
    check = serializers.CharField()
    level = serializers.ChoiceField(choices=["ok", "warn", "fail", "unknown"])
    title = serializers.CharField()
    seen = serializers.CharField(help_text="What was seen, in the language of the request.")
    means = serializers.CharField(help_text="What it means for those who work there.")
    command = serializers.CharField(help_text="What mends it; empty: nothing is to be mended, or no command can.")


class CheckupOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=CheckupStatus.choices)
    step = serializers.CharField(help_text="The check that is made now; empty unless it is being examined.")
    automatic = serializers.BooleanField(help_text="The platform ordered it, since nodes wait to be proved.")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    findings = serializers.SerializerMethodField()

    @extend_schema_field(CheckupFindingOut(many=True))
    def get_findings(self, checkup: ClusterCheckup) -> Any:
        return CheckupFindingOut([told(each) for each in checkup.findings], many=True).data


@extend_schema(tags=["console: zones"])
class ZoneCheckups(ScopedView):
    access = {"get": VIEW, "post": MANAGE}

    @extend_schema(responses=CheckupOut(many=True))
    def get(self, request: Request, zone_id: UUID) -> Response:
        """The newest twenty check-ups of the zone's Kubernetes cluster, the newest first."""
        return Response(CheckupOut(cluster_doctor.checkups(self.actor, zone_id), many=True).data)

    @extend_schema(request=None, responses={201: CheckupOut})
    def post(self, request: Request, zone_id: UUID) -> Response:
        """Has the cluster examined, by a few short pods among others; a worker does it within some minutes."""
        made = cluster_doctor.order_checkup(self.actor, zone_id=zone_id)
        made.refresh_from_db()
        return Response(CheckupOut(made).data, status=status.HTTP_201_CREATED)
