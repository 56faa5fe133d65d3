"""Pages of runs with what they cost: sorted by one key, and only the runs of the page asked for read in full."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Aggregate, Max, Min, Sum

from apps.billing.consumption.forms import ConsumptionQuery, Order
from apps.billing.consumption.selectors import consumption_by_workload, session_days
from apps.common.actor import Actor

PER_PAGE = 25
# What each order sorts by, and whether the greatest comes first.
KEYS: dict[Order, tuple[Aggregate, bool]] = {
    Order.RECENT: (Max("end"), True),
    Order.AMOUNT: (Sum("amount_fen"), True),
    Order.TIME: (Sum("seconds"), True),
    Order.NAME: (Min("session__label"), False),
}


def page_of_runs(actor: Actor, asked: ConsumptionQuery, *, number: str | None, count: int) -> Page[Any]:
    """Rows as of `consumption_by_workload`, with charges (how many), version and rate (the newest price).

    `count`: how many runs there are, which the caller knows; a page beyond the last is the last.
    """
    rows = asked.narrow(session_days(actor, filters=asked.filters)).values("session__workload_id")
    key, greatest_first = KEYS[asked.order]
    ordered = rows.annotate(key=key).order_by("-key" if greatest_first else "key", "session__workload_id")
    paginator = Paginator(ordered.values_list("session__workload_id", flat=True), PER_PAGE)
    paginator.count = count
    page = paginator.get_page(number)
    page.object_list = _in_full(actor, asked, list(page.object_list))
    return page


def _in_full(actor: Actor, asked: ConsumptionQuery, workload_ids: list[Any]) -> list[dict[str, Any]]:
    rows = consumption_by_workload(actor, filters=asked.filters).filter(session__workload_id__in=workload_ids)
    detailed = rows.annotate(
        charges=Sum("charges"), version=Max("price_version__number"), rate=Max("price_version__rate_fen_per_hour")
    )
    found = {row["workload_id"]: row for row in detailed.order_by()}
    return [found[workload_id] for workload_id in workload_ids]
