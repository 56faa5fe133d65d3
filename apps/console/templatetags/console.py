"""`{% load console %}`: words for rows of the kernel and the ledger, in the reader's language."""

from decimal import Decimal

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.models import Entry
from apps.billing.bill_choices import BillOutcome
from apps.billing.models import Package
from apps.common.formatting import UNKNOWN, elapsed, gpu_memory, memory
from apps.common.money import FEN_PER_YUAN, whole_fen
from apps.console.audit.selectors import changes
from apps.console.audit.words import TARGETS, action_words, field_words, value_words
from apps.console.finance.consumption.words import formula, plain_seconds, yuan_figure
from apps.console.kit.words import CHANNELS, core_words
from apps.tenants.choices import Resource
from apps.tenants.quotas import amount_text, line_words
from apps.tenants.selectors import LevelLine
from apps.workloads.choices import Fault, Reason
from apps.workloads.models import Workload

register = template.Library()


@register.filter
def package_resources(package: Package) -> str:
    """`4 cores · 16 GiB · 1 × H200 80 GB` of one replica."""
    parts = [core_words(package.cpu_milli), memory(package.memory_mib)]
    if package.gpu_count:
        size = gpu_memory(package.gpu_memory_mib) if package.gpu_memory_mib else ""
        model = package.gpu_model or _("any GPU")
        parts.append(" ".join(filter(None, [f"{package.gpu_count} ×", model, package.mig_profile, size])))
    if package.rdma:
        parts.append(_("RDMA"))
    return " · ".join(parts)


@register.filter
def reason_label(reason: str) -> str:
    """A workload's reason in words; the code itself where there are none."""
    if not reason:
        return UNKNOWN
    return str(Reason(reason).label) if reason in Reason.values else reason


@register.filter
def fault_label(fault: str) -> str:
    """Whose matter a failure is, as staff read it: the owner's program is not theirs."""
    return {
        Fault.USER.value: _("The program"),
        Fault.PLATFORM.value: _("The platform"),
        Fault.NODE.value: _("The node"),
    }.get(fault, UNKNOWN)


@register.filter
def exact_amount(fen: Decimal | None) -> str:
    """Fen as yuan with four places and no currency sign, for columns whose header names the unit."""
    return UNKNOWN if fen is None else f"{Decimal(fen) / FEN_PER_YUAN:,.4f}"


@register.filter
def ten_places(fen: Decimal | None) -> str:
    """Fen as yuan with all that the ledger keeps: ten places of a fen are twelve of a yuan."""
    return UNKNOWN if fen is None else f"¥{Decimal(fen) / FEN_PER_YUAN:,.12f}".rstrip("0").rstrip(".")


@register.filter
def action_label(action: str) -> str:
    return action_words(action)


@register.filter
def limit_words(limit: LevelLine) -> str:
    """`4 of 16 GiB` in the resource's unit; `4, unlimited` where there is no limit."""
    used = _amount(limit.resource, limit.used)
    if limit.limit is None:
        return _("%(used)s, unlimited") % {"used": used}
    return _("%(used)s of %(limit)s") % {"used": used, "limit": _amount(limit.resource, limit.limit)}


@register.filter
def limit_label(limit: LevelLine) -> str:
    """The resource, with the accelerator's model where the line is about one."""
    return str(line_words(limit.resource, limit.model))


def _amount(resource: Resource, amount: int) -> str:
    return memory(amount) if resource in (Resource.MEMORY_MIB, Resource.STORAGE_MIB) else amount_text(resource, amount)


@register.filter
def ran_for(workload: Workload) -> str:
    """How long it has run or ran; a dash before it starts."""
    if workload.started_at is None:
        return UNKNOWN
    end = workload.ended_at or timezone.now()
    return elapsed((end - workload.started_at).total_seconds())


@register.filter
def whole(fen: Decimal | int) -> int:
    """Whole fen of an exact amount, rounded down as charges are."""
    return whole_fen(Decimal(fen))


@register.filter
def channel_label(channel: str) -> str:
    return str(CHANNELS.get(channel, channel))


@register.filter
def bill_outcome_label(outcome: str) -> str:
    return str(BillOutcome(outcome).label)


@register.filter
def target_url(entry: Entry) -> str:
    """The page of what an entry speaks of; empty for what has none."""
    if entry.target_type not in ("node", "organisation", "package", "workload"):
        return ""
    try:
        return reverse(f"console:{entry.target_type}", args=[entry.target_id])
    except NoReverseMatch:  # the log outlives the ways in which things were once named
        return ""


@register.filter
def target_label(target_type: str) -> str:
    return str(TARGETS.get(target_type, target_type))


@register.filter
def audit_changes(entry: Entry) -> list[dict[str, str]]:
    """Changed fields in words: name, before ("" where there was nothing), after."""
    return [
        {
            "name": field_words(change.name),
            "before": "" if change.before is None else value_words(change.name, change.before),
            "after": value_words(change.name, change.after),
        }
        for change in changes(entry)
    ]


register.filter("core_words", core_words)
register.filter("formula", formula)
register.filter("plain_seconds", plain_seconds)
register.filter("yuan_figure", yuan_figure)
