"""Why something waits, in words: one dominant cause, the checks in order, who holds what, when it should start."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.workloads.choices import PLACED, Status
from apps.workloads.explaining.cases import Case
from apps.workloads.explaining.causes import HOPELESS, words_of
from apps.workloads.explaining.holders import HolderRow, holder_rows
from apps.workloads.explaining.names import Names, names_of, node_of
from apps.workloads.explaining.rack import Rack, rack_of
from apps.workloads.explaining.shortages import deficit_words
from apps.workloads.models import Workload
from apps.workloads.simulation_scope import of_world
from apps.workloads.spec import Gpu
from scheduler import Ahead

HIGHEST_PRIORITY = 5


@dataclass(frozen=True, slots=True)
class WaitReport:
    """What the queue card shows. `funnel` rows are {"name", "label", "count"}; times are None where nothing is known.

    `place` of `waiting`: among those that want the same kind of card. `node`: the machine that comes closest, short of
    `short`; `reserved`: the machine where room is kept. `ahead`: of what is submitted and waits for whole cards.
    Holders, rack and priority: only by `queue_card`.
    """

    title: str
    text: str
    cause: str
    funnel: list[dict[str, Any]]
    position: int | None
    start_p50: datetime | None
    start_p90: datetime | None
    at: datetime | None = None
    place: int | None = None
    waiting: int | None = None
    node: str = ""
    short: str = ""
    reserved: bool = False
    holders: tuple[HolderRow, ...] = ()
    rack: Rack | None = None
    priority: str = ""
    ahead: Ahead | None = None

    @property
    def ahead_words(self) -> str:
        """How many cards must fall free before its turn; empty where none is ahead, or enough are free."""
        ahead = self.ahead
        if ahead is None or not ahead.tasks or not ahead.short:
            return ""
        words = ngettext(
            "%(tasks)s is ahead for the same cards. Together with this one it needs %(cards)s, of which %(free)s are "
            "free: at least %(short)s must become free first.",
            "%(tasks)s are ahead for the same cards. Together with this one they need %(cards)s, of which %(free)s are "
            "free: at least %(short)s must become free first.",
            ahead.tasks,
        )
        return words % {"tasks": ahead.tasks, "cards": ahead.cards, "free": ahead.free, "short": ahead.short}

    @property
    def hopeless(self) -> bool:
        """Nothing that is here could ever run it: it has no place and no start to wait for."""
        return self.cause in HOPELESS


def explain_wait(actor: Actor, workload: Workload) -> WaitReport:
    """The scheduler's last explanation of a queued workload."""
    return replace(explain(workload.explanation, gpu=workload.frozen_spec.gpu), at=workload.explained_at)


def queue_card(actor: Actor, workload: Workload) -> WaitReport:
    """The same with what stands around it now: who holds what, the cards of the machine that comes closest."""
    known = workload.explanation
    return replace(
        explain_wait(actor, workload),
        holders=tuple(holder_rows(workload, known.get("holders") or [])),
        rack=rack_of(workload.organisation_id, node_of(known), workload.frozen_spec.gpu)
        if known.get("nearest")
        else None,
        priority=_priority(workload),
    )


def explain(
    explanation: Mapping[str, Any], *, gpu: Gpu | None = None, names: Names | None = None, asked: bool = False
) -> WaitReport:
    """Words for an explanation as `reconcile.explaining` keeps it; an empty one has not been looked at yet.

    Names are looked up unless given. `asked`: of something that is not submitted yet.
    """
    found = names_of(explanation) if names is None else names
    case = case_of(explanation, found, gpu, asked)
    words, kin = words_of(case), explanation.get("kin") or {}
    return WaitReport(
        title=words.title,
        text=words.text,
        cause=case.cause,
        funnel=[
            {"name": s["name"], "label": step_label(s["name"]), "count": s["count"]}
            for s in explanation.get("funnel") or []
        ],
        position=explanation.get("position"),
        start_p50=_time(explanation.get("start_p50")),
        start_p90=_time(explanation.get("start_p90")),
        place=kin.get("position"),
        waiting=kin.get("total"),
        node=found.node,
        short=deficit_words(case),
        reserved=case.reserved,
        ahead=None if asked or not explanation.get("ahead") else Ahead(**explanation["ahead"]),
    )


def case_of(explanation: Mapping[str, Any], names: Names, gpu: Gpu | None = None, asked: bool = False) -> Case:
    return Case(
        cause=explanation.get("cause", ""),
        params=explanation.get("params") or {},
        nearest=explanation.get("nearest") or {},
        names=names,
        gpu=gpu,
        asked=asked,
        reserved=bool(explanation.get("reserved")),
    )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _priority(workload: Workload) -> str:
    """Said only where it is certain: priorities order the work of one organisation and nothing else."""
    if workload.priority >= HIGHEST_PRIORITY or not workload.explanation.get("cause"):
        return ""
    world = of_world(workload.simulated)
    rivals = Workload.objects.filter(world, organisation_id=workload.organisation_id, priority__gte=workload.priority)
    if rivals.filter(status__in=PLACED | {Status.QUEUED}).exclude(pk=workload.pk).exists():
        return ""
    return _(
        "Raising the priority would not start it earlier: it goes before all other work of your organisation already, "
        "and a priority never passes other organisations."
    )


def step_label(name: str) -> str:
    """What is left after each of the scheduler's checks, in words."""
    return {
        "nodes": _("Machines"),
        "zone": _("In your zone"),
        "cluster": _("In your cluster"),
        "reserved": _("Open to your organisation"),
        "arch": _("Right processor"),
        "rdma": _("With RDMA devices"),
        "no_such_model": _("Right GPU model"),
        "no_such_mode": _("Right GPU mode"),
        "never_fits": _("Large enough"),
        "node_unschedulable": _("Taking work"),
        "node_unhealthy": _("Answering"),
        "rdma_down": _("RDMA link up"),
        "cpu": _("Enough CPU"),
        "memory": _("Enough memory"),
        "devices": _("Enough free GPUs"),
        "slices": _("Enough free slices"),
    }.get(name, name)
