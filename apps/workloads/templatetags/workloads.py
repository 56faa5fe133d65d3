"""`{% load workloads %}`: packages, waiting, events and what drivers say, in the reader's words."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import template
from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext

from apps.billing.choices import Isolation
from apps.billing.models import Package
from apps.clusters.models import Node
from apps.clusters.simulation import without_mark
from apps.common.money import FEN_PER_YUAN, whole_fen, yuan
from apps.common.templatetags.pl_filters import exact_yuan
from apps.workloads.drivers.base import IsolationLevel
from apps.workloads.explaining.names import NAMELESS
from apps.workloads.faults import advise
from apps.workloads.kinds import kind_of
from apps.workloads.member_words import member_words
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.timeline import event_icon, event_title
from apps.workloads.waiting import WaitReport, explain
from apps.workloads.words import isolation_words, recorded

register = template.Library()

_ISOLATION_ICONS = {
    Isolation.NONE: "cpu",
    Isolation.WHOLE: "lock",
    Isolation.HARDWARE: "shield-lock",
    Isolation.MEMORY: "shield-half",
    Isolation.SHARED: "users-group",
}

register.filter("isolation_words", isolation_words)
register.filter("whole_fen", whole_fen)
register.filter("without_mark", without_mark)
register.filter("event_title", event_title)
register.filter("event_icon", event_icon)
register.filter("member_words", member_words)


@register.filter
def driver_words(data: Mapping[str, Any] | None) -> str:
    """Of an attempt's progress."""
    return recorded(data) if data else ""


@register.filter
def kind_label(workload: Workload) -> str:
    """What it is to the person who started it: training, an environment, …"""
    return str(kind_of(workload).label)


@register.filter
def machines_of(attempt: Attempt) -> str:
    """The machines of a gang's members, each once: `node-a, node-b`."""
    return ", ".join(dict.fromkeys(member.node.name for member in attempt.members.all()))


@register.filter
def cards_of_rank(attempt: Attempt, rank: int) -> str:
    """The cards of one member: `A100 #0, A100 #1`."""
    cards = [piece.accelerator for piece in attempt.placements.all() if piece.rank == rank]
    return ", ".join(f"{card.model} #{card.index}" for card in cards if card is not None)


@register.filter
def package_name(package: Package) -> str:
    return package.name(get_language() or "")


@register.filter
def taken_packages(workload: Workload) -> str:
    """Its package, and how often where it has several members: `2 × CPU small`."""
    name = package_name(workload.package)
    return f"{workload.member_count} × {name}" if workload.member_count > 1 else name


@register.filter
def package_note(package: Package) -> str:
    return package.description(get_language() or "")


@register.filter
def isolation_icon(package: Package) -> str:
    return _ISOLATION_ICONS[Isolation(package.isolation)]


@register.filter
def isolation_label(package: Package) -> str | Promise:
    return Isolation(package.isolation).label


@register.filter
def isolation_short(node: Node) -> str:
    """Whether workloads on it are kept apart; its reason says how."""
    return (
        pgettext("machine", "isolated") if node.isolation == IsolationLevel.L1 else pgettext("machine", "not isolated")
    )


@register.filter
def wait_title(workload: Workload) -> str:
    """Why it waits, in few words. Without the machine's name: a list must not look one up for each row."""
    return explain(workload.explanation, gpu=workload.frozen_spec.gpu, names=NAMELESS).title


@register.filter
def wait_ahead(workload: Workload) -> str:
    """How many cards must fall free before its turn; empty where nobody can say."""
    return explain(workload.explanation, gpu=workload.frozen_spec.gpu, names=NAMELESS).ahead_words


@register.filter
def held_cards(cards: float) -> str:
    """`1`, `0.25`: cards or the part of one."""
    return f"{cards:g}"


@register.filter
def narrowing(report: WaitReport) -> list[dict[str, Any]]:
    """The checks that cost a machine: all machines first, then each check that fewer pass, until none is left."""
    shown: list[dict[str, Any]] = []
    for step in report.funnel:
        if not shown or step["count"] < shown[-1]["count"]:
            shown.append(step)
        if not step["count"]:
            break
    return shown


@register.filter
def end_title(workload: Workload) -> str:
    return advise(workload).title


@register.filter
def exact_amount(exact_fen: Decimal | None) -> str:
    """As `exact_yuan`, for columns whose header names the unit."""
    return exact_yuan(exact_fen).removeprefix("¥")


@register.filter
def cost_text(exact_fen: Decimal) -> str:
    """Two places from one yuan on, four below it: a short run on a cheap package costs fractions of a fen."""
    return yuan(whole_fen(exact_fen)) if exact_fen >= FEN_PER_YUAN else exact_yuan(exact_fen)


@register.filter
def ran_seconds(workload: Workload) -> float | None:
    """How long the last attempt ran; None when it never did."""
    if workload.started_at is None or workload.ended_at is None:
        return None
    return (workload.ended_at - workload.started_at).total_seconds()


@register.filter
def event_tone(event: Event) -> str:
    if event.kind == "waiting":
        return "wait"
    return {"failed": "fail", "running": "run", "queued": "wait"}.get(event.status, "stop")
