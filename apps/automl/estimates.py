"""What a whole experiment would take, by what its run took."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from apps.billing.models import Package
from apps.billing.selectors import Quote
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.training.choices import KIND
from apps.training.models import Run
from apps.workloads.offers.quoting import Offer, offer


@dataclass(frozen=True, slots=True)
class Estimate:
    """`rate_fen_per_hour`: while as many trials run as may. `trial_s`: how long the run took, or is expected to take.

    `fen` and `seconds`: of all trials, if each takes as long; None where nothing says how long one takes.
    """

    package: Package
    offer: Offer
    parallel: int
    trials: int
    rate_fen_per_hour: Decimal
    trial_s: float | None
    fen: Decimal | None
    seconds: float | None

    @property
    def quote(self) -> Quote:
        return self.offer.quote

    @property
    def length(self) -> timedelta | None:
        return None if self.seconds is None else timedelta(seconds=self.seconds)


def estimate(actor: Actor, run: Run, *, trials: int, parallel: int) -> Estimate | None:
    """None for a package without a price."""
    package = run.workload.package
    try:
        found = offer(actor, package, kind=KIND, members=run.workload.member_count)
    except Conflict:
        return None
    rate = found.quote.rate_fen_per_hour
    trial_s = trial_seconds(run)
    at_once = min(parallel, trials)
    rounds = -(-trials // at_once)
    return Estimate(
        package=package,
        offer=found,
        parallel=at_once,
        trials=trials,
        rate_fen_per_hour=rate * at_once,
        trial_s=trial_s,
        fen=None if trial_s is None else rate * Decimal(trial_s) / 3600 * trials,
        seconds=None if trial_s is None else trial_s * rounds,
    )


def trial_seconds(run: Run) -> float | None:
    """What its owner expects, else how long it ran if it ended well."""
    workload = run.workload
    if workload.expected_s:
        return float(workload.expected_s)
    if workload.status == "succeeded" and workload.started_at and workload.ended_at:
        return (workload.ended_at - workload.started_at).total_seconds()
    return None
