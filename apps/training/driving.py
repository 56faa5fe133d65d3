"""What those need of runs who start them in their owner's name and follow them to their end: tuning and pipelines."""

from datetime import datetime, timedelta

from apps.billing.caps.services import least_fen
from apps.billing.prices.own import own_prices
from apps.billing.selectors import current_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, Frozen, InsufficientFunds, QuotaExceeded, Unavailable
from apps.tracking.collecting.models import Collection
from apps.training.models import Run
from apps.workloads import services as workloads
from apps.workloads.choices import Reason
from apps.workloads.models import Workload

# Refusals that pass by themselves, by the name that `Hurdle` of the driving apps has for each.
_HURDLES: tuple[tuple[type[DomainError], str], ...] = (
    (QuotaExceeded, "quota"),
    (InsufficientFunds, "funds"),
    (Frozen, "frozen"),
    (Unavailable, "unavailable"),
)
# After its end the log of a run is still read to the last byte. Where that cannot be done, what was read counts.
PATIENCE = timedelta(minutes=5)


def hurdle_of(error: DomainError) -> str:
    """Why it could not be started now, if that passes by itself; empty for what somebody has to mend."""
    return next((name for kind, name in _HURDLES if isinstance(error, kind)), "")


def least_cap(template: Run) -> int:
    """The smallest cap that a run like this one can have, in fen."""
    workload = template.workload
    price = current_price(workload.package_id) or workload.price_version
    rate = own_prices(template.organisation_id, db_now()).rate(price.rate_fen_per_hour)
    return least_fen(rate * workload.member_count)


def stop_run(actor: Actor, run: Run, why: Reason = Reason.BY_PERSON) -> bool:
    """Ask it to end; whether it was asked. Again does no harm, and neither does one that has just ended."""
    try:
        workloads.stop(actor, run.workload, why)
    except Conflict:
        return False
    return True


def is_read(workload: Workload, now: datetime) -> bool:
    """Whether everything that an ended run said of itself was read, or will not be; one that never ran said nothing."""
    if workload.started_at is None or workload.ended_at is None:
        return True
    collection = Collection.objects.filter(workload=workload).only("done_at").first()
    done = collection is not None and collection.done_at is not None
    return done or now - workload.ended_at > PATIENCE
