"""What the owner of work is told of its end: how long it ran, what it cost, why it failed, what it wrote last.

Words are made when the notice is read, from what is recorded here, so that each reader gets them in their language.
"""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from apps.billing import selectors as billing
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.notifications.services import PRIVATE
from apps.workloads.advice import Advice
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.faults import WITH_OUTPUT, advise
from apps.workloads.logs.search import without_controls
from apps.workloads.models import Workload

# Of the log; the rest is on its page.
MOST_LINES, MOST_BYTES = 20, 2048


def end_data(actor: Actor, workload: Workload, facts: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Of the notice about an end whose meters are closed. Its owner alone sees what the program wrote, and `facts`."""
    data = {**spent_data(actor, workload), "reason": workload.reason}
    private = dict(facts)
    if workload.status == Status.FAILED:
        limits = {"limit_mib": workload.frozen_spec.memory_mib}
        private |= {"reason_data": workload.reason_data | limits, "fault": workload.fault}
    return data | {PRIVATE: private} if private else data


def private_in(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """What of a notice is for its owner alone; empty where there is none, or it is of a shape unknown here."""
    recorded = data.get(PRIVATE)
    return recorded if isinstance(recorded, Mapping) else {}


def spent_data(actor: Actor, workload: Workload) -> dict[str, Any]:
    """`seconds` of running over all attempts and `cost_fen`, up to the last proof that it ran.

    Where that rounds to nothing although it was not free, `cost_exact_fen` too.
    """
    cost = billing.workload_cost(actor, workload_id=workload.pk)
    ran = (workload.ended_at or db_now()) - workload.started_at if workload.started_at else timedelta(0)
    # What is not metered, as on simulated hardware, has run all the same.
    seconds = float(cost.seconds) or ran.total_seconds()
    data = {"seconds": max(1, round(seconds)) if seconds else 0, "cost_fen": round(cost.exact_fen)}
    if not data["cost_fen"] and cost.exact_fen:
        return {**data, "cost_exact_fen": str(cost.exact_fen)}
    return data


def advice_in(data: Mapping[str, Any]) -> Advice | None:
    """Why it failed and what to do; None for notices that do not have it recorded, or by a later version."""
    recorded, reason = private_in(data), data.get("reason")
    if reason not in Reason.values or recorded.get("fault") not in Fault.values:
        return None
    known = {"reason": reason, "reason_data": recorded.get("reason_data") or {}, "fault": recorded["fault"]}
    return advise(Workload(status=Status.FAILED, **known))


def last_lines_in(data: Mapping[str, Any]) -> str:
    """The end of its log, at most `MOST_LINES` and `MOST_BYTES`; secrets were masked before it was stored."""
    known = private_in(data).get("reason_data")
    if not isinstance(known, Mapping):
        return ""
    output = known.get("output") or (known.get("detail") if data.get("reason") in WITH_OUTPUT else "")
    text = "\n".join(without_controls(str(output or "")).splitlines()[-MOST_LINES:])
    return text.encode()[-MOST_BYTES:].decode(errors="ignore")
