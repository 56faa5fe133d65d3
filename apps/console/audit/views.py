"""The operation log: who changed what, with the values before and after."""

import json
from functools import partial

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.audit.models import Entry
from apps.common.access import on_platform, requires
from apps.common.pages import paged
from apps.common.permissions import Permission as P
from apps.console.audit import selectors as reads
from apps.console.audit.listing import AuditFilter, AuditTable, MoneyAuditFilter
from apps.console.audit.words import TARGETS, action_words, field_words, value_words
from apps.console.kit.exporting import Row, csv_response
from apps.console.kit.requests import StaffRequest
from apps.console.kit.words import CHANNELS

VIEW = on_platform(P.PLATFORM_AUDIT_VIEW)
MONEY = on_platform(P.PLATFORM_AUDIT_MONEY)


@requires(VIEW)
@require_GET
def log(request: StaffRequest) -> HttpResponse:
    filtered = AuditFilter(request.GET, queryset=reads.entries(request.actor), request=request)
    return _page(request, filtered, "console:audit", _("Audit log"))


@requires(MONEY)
@require_GET
def money_log(request: StaffRequest) -> HttpResponse:
    filtered = MoneyAuditFilter(request.GET, queryset=reads.money_entries(request.actor), request=request)
    return _page(request, filtered, "console:money_audit", _("Money audit"))


def _page(request: StaffRequest, filtered: AuditFilter, name: str, title: str) -> HttpResponse:
    context = {
        "title": title,
        "table": paged(request, AuditTable(filtered.qs), counted=False),
        "filter": filtered,
        "clear_url": reverse(name),
        "export_url": reverse(f"{name}_export"),
        "only_money": name == "console:money_audit",
    }
    return render(request, "console/audit/log.html", context)


@requires(VIEW)
@require_GET
def export(request: StaffRequest) -> HttpResponseBase:
    filtered = AuditFilter(request.GET, queryset=reads.entries(request.actor), request=request)
    return _csv(request, filtered, P.PLATFORM_AUDIT_VIEW, "audit")


@requires(MONEY)
@require_GET
def money_export(request: StaffRequest) -> HttpResponseBase:
    filtered = MoneyAuditFilter(request.GET, queryset=reads.money_entries(request.actor), request=request)
    return _csv(request, filtered, P.PLATFORM_AUDIT_MONEY, "audit-money")


def _csv(request: StaffRequest, filtered: AuditFilter, permission: P, name: str) -> HttpResponseBase:
    """The filtered entries in the reader's language, then their codes and values as JSON; times with their zone."""
    header = [
        _("When"), _("Who"), _("Account id"), _("Channel"), _("Address"), _("Action"), _("Kind of object"),
        _("Object id"), _("Object"), _("Organisation id"), _("Organisation"), _("Before"), _("After"),
        _("Changes"), _("Code of the action"), _("Code of the kind of object"),
    ]  # fmt: skip
    return csv_response(
        request.actor,
        permission=permission,
        name=f"{name}-{timezone.localtime():%Y%m%d-%H%M}.csv",
        header=header,
        rows=filtered.qs,
        render=partial(_lines, language=get_language() or "en"),
    )


def _lines(found: list[Entry], *, language: str) -> list[Row]:
    """In `language`: the rows are streamed when the request's own language has ended."""
    with override(language):
        names = reads.organisation_names(found)
        reads.name_objects(found)
        return [_line(entry, names.get(entry.organisation_id, "") if entry.organisation_id else "") for entry in found]


def _line(entry: Entry, organisation: str) -> Row:
    return [
        timezone.localtime(entry.at).isoformat(timespec="milliseconds"),
        entry.actor_label,
        entry.actor_id,
        str(CHANNELS.get(entry.channel, entry.channel)),
        entry.address,
        action_words(entry.action),
        str(TARGETS.get(entry.target_type, entry.target_type)),
        entry.target_id,
        entry.target_label,
        entry.organisation_id,
        organisation,
        json.dumps(entry.before, ensure_ascii=False, sort_keys=True),
        json.dumps(entry.after, ensure_ascii=False, sort_keys=True),
        "\n".join(map(_change, reads.changes(entry))),
        entry.action,
        entry.target_type,
    ]


def _change(change: reads.Change) -> str:
    before, after = value_words(change.name, change.before), value_words(change.name, change.after)
    return f"{field_words(change.name)}: {before} → {after}"
