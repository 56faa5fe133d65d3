"""The operation log: who changed what, with the values before and after."""

import json

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.audit.models import Entry
from apps.common.access import on_platform, requires
from apps.common.pages import paged
from apps.common.permissions import Permission as P
from apps.console.audit import selectors as reads
from apps.console.audit.listing import AuditFilter, AuditTable
from apps.console.kit.exporting import Row, csv_response
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_AUDIT_VIEW)


@requires(VIEW)
@require_GET
def log(request: StaffRequest) -> HttpResponse:
    filtered = AuditFilter(request.GET, queryset=reads.entries(request.actor), request=request)
    table = paged(request, AuditTable(filtered.qs), counted=False)
    return render(request, "console/audit/log.html", {"table": table, "filter": filtered})


@requires(VIEW)
@require_GET
def export(request: StaffRequest) -> HttpResponseBase:
    """What the filters leave, as CSV: UTF-8 with a mark, times with their zone, values as JSON."""
    filtered = AuditFilter(request.GET, queryset=reads.entries(request.actor), request=request)
    header = [
        _("When"), _("Who"), _("Account id"), _("Channel"), _("Address"), _("Action"), _("Kind of object"),
        _("Object id"), _("Object"), _("Organisation id"), _("Organisation"), _("Before"), _("After"),
    ]  # fmt: skip
    name = f"audit-{timezone.localtime():%Y%m%d-%H%M}.csv"
    return csv_response(
        request.actor,
        permission=P.PLATFORM_AUDIT_VIEW,
        name=name,
        header=header,
        rows=filtered.qs,
        render=_lines,
    )


def _lines(found: list[Entry]) -> list[Row]:
    names = reads.organisation_names(found)
    return [_line(entry, names.get(entry.organisation_id, "") if entry.organisation_id else "") for entry in found]


def _line(entry: Entry, organisation: str) -> Row:
    return [
        timezone.localtime(entry.at).isoformat(timespec="milliseconds"),
        entry.actor_label,
        entry.actor_id,
        entry.channel,
        entry.address,
        entry.action,
        entry.target_type,
        entry.target_id,
        entry.target_label,
        entry.organisation_id,
        organisation,
        json.dumps(entry.before, ensure_ascii=False, sort_keys=True),
        json.dumps(entry.after, ensure_ascii=False, sort_keys=True),
    ]
