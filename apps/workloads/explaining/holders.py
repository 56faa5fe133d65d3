"""Who holds what a waiting task could use. Names are of the reader's own organisation alone; others are sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.workloads.models import Workload


@dataclass(frozen=True, slots=True)
class HolderRow:
    """One line of the table. `cards`: whole cards or parts of them; ends are None where nothing is known.

    `name` is empty for other organisations. `may_yield`, and why (not) in `why`.
    """

    label: str
    name: str
    owner: str
    tasks: int
    cards: float
    end_p50: datetime | None
    end_p90: datetime | None
    may_yield: bool
    why: str


def holder_rows(waiting: Workload, holders: Sequence[Mapping[str, Any]]) -> list[HolderRow]:
    """Rows for `holders` as `reconcile.explaining` keeps them; what ended in the meantime is left out."""
    ids = [holder["task"] for holder in holders if "task" in holder]
    own = Workload.objects.filter(pk__in=ids, organisation_id=waiting.organisation_id).select_related("owner")
    found = {str(workload.pk): workload for workload in own} if ids else {}
    rows = [_row(waiting, holder, found) for holder in holders]
    return [row for row in rows if row is not None]


def _row(waiting: Workload, holder: Mapping[str, Any], own: Mapping[str, Workload]) -> HolderRow | None:
    task = holder.get("task")
    workload = own.get(task) if task else None
    if task and (workload is None or not workload.is_live):
        return None
    count = int(holder.get("tasks", 1))
    others = ngettext("%(count)s task of another organisation", "%(count)s tasks of other organisations", count) % {
        "count": count
    }
    return HolderRow(
        label=workload.name if workload else others,
        name=workload.name if workload else "",
        owner=workload.owner.name or workload.owner.username if workload else "",
        tasks=count,
        cards=holder.get("gpu_milli", 0) / 1000,
        end_p50=_time(holder.get("end_p50")),
        end_p90=_time(holder.get("end_p90")),
        may_yield=bool(holder.get("may_yield")),
        why=_why(str(holder.get("why", "")), waiting, workload),
    )


def _why(why: str, waiting: Workload, holder: Workload | None) -> str:
    """Whether it may be asked to give way, and by which rule."""
    words = {
        "leaving": _("yes: it is giving way already"),
        "lower_priority": _("yes: its priority is lower"),
        "above_guarantee": _("yes: it is above its organisation's guarantee"),
        "not_preemptible": _("no: it was started not to be interrupted"),
        "min_runtime": _("no: it has only just started"),
        "within_guarantee": _(
            "no: other organisations give way only to your organisation's guarantee, with what is beyond their own"
        ),
        "priority": _("no: its priority is not lower"),
    }
    if why == "priority" and holder is not None:
        return _("no: its priority %(its)s is not below %(ours)s") % {"its": holder.priority, "ours": waiting.priority}
    return words.get(why, _("no"))


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
