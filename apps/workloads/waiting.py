"""Why something waits, in words: one dominant cause, the checks in order, when it should start."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.formatting import memory
from apps.workloads.models import Workload


@dataclass(frozen=True, slots=True)
class WaitReport:
    """What the queue card shows. `funnel` rows are {"label", "count"}; times are None where nothing is known."""

    title: str
    text: str
    cause: str
    funnel: list[dict[str, Any]]
    position: int | None
    start_p50: datetime | None
    start_p90: datetime | None
    at: datetime | None


def explain_wait(actor: Actor, workload: Workload) -> WaitReport:
    """The scheduler's last explanation of a queued workload."""
    report = explain(workload.explanation)
    return WaitReport(**{**{name: getattr(report, name) for name in report.__slots__}, "at": workload.explained_at})


def explain(explanation: dict[str, Any]) -> WaitReport:
    """Words for an explanation as `reconcile.schedule` keeps it; an empty one has not been looked at yet."""
    cause, params = explanation.get("cause", ""), explanation.get("params") or {}
    title, text = _words(cause, params, explanation.get("nearest") or {})
    return WaitReport(
        title=title,
        text=text,
        cause=cause,
        funnel=[{"label": step_label(s["name"]), "count": s["count"]} for s in explanation.get("funnel") or []],
        position=explanation.get("position"),
        start_p50=_time(explanation.get("start_p50")),
        start_p90=_time(explanation.get("start_p90")),
        at=None,
    )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _words(cause: str, params: dict[str, Any], nearest: dict[str, Any]) -> tuple[str, str]:
    if not cause:
        return _("Waiting for the scheduler"), _("The next pass looks at it within seconds.")
    short = _shortage(cause, nearest)
    where = _node_name(nearest.get("node_id"))
    if short:
        title = _("%(node)s is short of %(short)s") % {"node": where, "short": short} if where else short
        return title, _("It starts as soon as something ends and frees enough.")
    return _standing(cause)


def _standing(cause: str) -> tuple[str, str]:
    """Words for causes that no amount of freed capacity explains."""
    known = {
        "no_nodes": (_("There is no machine yet"), _("The platform's administrators have to add one.")),
        "never_fits": (
            _("No machine is large enough"),
            _("Even empty, none could run this package. Stop it and choose a smaller one."),
        ),
        "no_such_model": (
            _("No machine has this GPU model"),
            _("Stop it and choose another package, or ask the administrators."),
        ),
        "no_such_mode": (
            _("No card is split this way"),
            _("Stop it and choose another package, or ask the administrators to switch a card's mode."),
        ),
        "node_unschedulable": (
            _("The machines that fit take no new work"),
            _("The administrators have closed them for now."),
        ),
        "node_unhealthy": (
            _("The machines that fit do not answer"),
            _("It starts when one of them is back."),
        ),
        "isolation": (
            _("This machine cannot keep organisations apart"),
            _("It serves another organisation. The platform's administrators can change that."),
        ),
        "quota": (_("The quota is used up"), _("It starts when other runs end, or when the quota is raised.")),
        "fair_share": (_("Others have waited for their share"), _("It starts when your organisation's turn comes.")),
        "behind_reservation": (
            _("Room is being kept for a run ahead of this one"),
            _("Starting it now would delay that run."),
        ),
        "waiting_for_victims": (_("Others are giving way"), _("They are saving their work; it starts next.")),
    }
    return known.get(cause, (_("Waiting"), _("The scheduler has not found room yet.")))


def _shortage(cause: str, nearest: dict[str, Any]) -> str:
    """The deficit in the resource that the cause names: "1.5 cores", "2 GiB", "1 GPU"."""
    if cause == "cpu":
        cores = nearest.get("cpu_milli", 0) / 1000
        return ngettext("%(cores)s CPU core", "%(cores)s CPU cores", 1 if cores == 1 else 2) % {"cores": f"{cores:g}"}
    if cause == "memory":
        return _("%(amount)s of memory") % {"amount": memory(nearest.get("memory_mib", 0))}
    if cause in ("devices", "slices"):
        count = int(nearest.get("devices") or 1)
        return ngettext("%(count)s GPU", "%(count)s GPUs", count) % {"count": count}
    return ""


def _node_name(node_id: str | None) -> str:
    return (Node.objects.filter(pk=node_id).values_list("name", flat=True).first() or "") if node_id else ""


def step_label(name: str) -> str:
    """What is left after each of the scheduler's checks, in words."""
    return {
        "nodes": _("Machines"),
        "zone": _("In your zone"),
        "cluster": _("In your cluster"),
        "arch": _("Right processor"),
        "no_such_model": _("Right GPU model"),
        "no_such_mode": _("Right GPU mode"),
        "never_fits": _("Large enough"),
        "node_unschedulable": _("Taking work"),
        "node_unhealthy": _("Answering"),
        "cpu": _("Enough CPU"),
        "memory": _("Enough memory"),
        "devices": _("Enough free GPUs"),
        "slices": _("Enough free slices"),
    }.get(name, name)
