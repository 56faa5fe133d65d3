"""`{% load contract %}`: under which contract something runs, and the notice that it was given."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

from apps.common.clock import db_now
from apps.common.formatting import clock
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.queueing.contract import Contract, contract_of
from apps.workloads.queueing.policy import rules
from apps.workloads.queueing.words import contract_lines, contract_title, for_whom

register = template.Library()


@register.inclusion_tag("workloads/contract.html")
def contract_card(workload: Workload | None) -> dict[str, Any]:
    """The card of a run's page; nothing once it has ended."""
    if workload is None or not workload.is_live:
        return {"contract": None}
    return {**_card(contract_of(workload)), "endless": not kinds.kind_of(workload).ends}


@register.inclusion_tag("workloads/contract_fold.html")
def contract_terms(contract: Contract | None) -> dict[str, Any]:
    """The same before launch, short, inside another card."""
    return _card(contract) if contract else {"contract": None}


def _card(contract: Contract) -> dict[str, Any]:
    return {"contract": contract, "title": contract_title(contract), "lines": contract_lines(contract)}


@register.simple_tag
def firm_hint(kind: str) -> str:
    """Beside "It must not be interrupted": what that means on this platform, for a kind of work."""
    whose = (
        _("Nobody takes its place.")
        if rules().firm_over_guarantee
        else _(
            "Nobody of your organisation takes its place; beyond its guarantee, another organisation's guarantee may."
        )
    )
    return f"{whose} {kinds.named(Kind(kind)).words.giving_way}"


@register.inclusion_tag("workloads/notice.html")
def leaving_notice(attempt: Attempt | None) -> dict[str, Any]:
    """The banner while a notice runs, or while it saves; nothing otherwise."""
    found = _open(attempt)
    if found is None:
        return {"notice": None}
    now = db_now()
    saving = found.leave_at <= now
    left_s = max(0.0, ((found.kill_at if saving else found.leave_at) - now).total_seconds())
    whom = for_whom(found.why, _priority(found))
    return {"notice": found, "saving": saving, "whom": whom, "left_s": round(left_s), "left": clock(left_s)}


def _open(attempt: Attempt | None) -> Preemption | None:
    if attempt is None or attempt.ended_at is not None:
        return None
    found: Preemption | None = Preemption.objects.filter(attempt_id=attempt.pk, ended_at__isnull=True).first()
    return found


def _priority(notice: Preemption) -> int | None:
    """Of the task that it makes room for, where it is the same organisation's."""
    rows = Workload.objects.filter(pk=notice.for_workload_id, organisation_id=notice.organisation_id)
    found: int | None = rows.values_list("priority", flat=True).first()
    return found
