"""The price for one organisation: what is listed less its discount, alike for usage and for what is paid in advance."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar, cast
from uuid import UUID

from django.db.models import DecimalField, ExpressionWrapper, F, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Now

from apps.billing.arithmetic import NOTHING_OFF, hour_price, net_fen, net_rate
from apps.billing.models import Discount, MeterSession
from apps.billing.prices.discounts.selectors import discount_at, in_force
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission

RATE = DecimalField(max_digits=30, decimal_places=10)
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class OwnPrices:
    """List prices as an organisation pays them at some moment; without a discount, as they are."""

    discount: Discount | None = None

    @property
    def off(self) -> Decimal:
        """The share that is taken off."""
        return self.discount.off if self.discount else NOTHING_OFF

    @property
    def all_free(self) -> bool:
        return self.off == 1

    def rate(self, listed_fen_per_hour: Decimal) -> Decimal:
        """Fen per hour, exact."""
        return net_rate(listed_fen_per_hour, self.off)

    def hour(self, listed_fen_per_hour: Decimal, replicas: int) -> int:
        """Whole fen that cover an hour."""
        return hour_price(listed_fen_per_hour, replicas, self.off)

    def paid_ahead(self, listed_fen: int) -> int:
        """Whole fen of what is paid at once, rounded once."""
        return net_fen(listed_fen, self.off)


def own_prices(organisation_id: UUID, at: datetime) -> OwnPrices:
    """Those that hold for what the organisation starts or pays in advance at this moment."""
    return OwnPrices(discount_at(organisation_id, at))


def prices_of(workload_id: UUID, organisation_id: UUID) -> OwnPrices:
    """Those of a workload: with the discount that its newest meter froze, else the one in force."""
    session = (
        MeterSession.objects.filter(workload_id=workload_id).select_related("discount").order_by("opened_at").last()
    )
    return OwnPrices(session.discount) if session is not None else own_prices(organisation_id, db_now())


def own_terms(actor: Actor) -> OwnPrices:
    """What the actor's organisation pays of the prices that are listed, now."""
    actor.require(Permission.BILLING_VIEW_OWN)
    return own_prices(actor.organisation(), db_now())


def with_paid_rate(rows: QuerySet[M], path: str = "") -> QuerySet[M]:
    """Adds `paid_rate`, fen per hour of all members as the organisation pays it; null without a workload.

    While it runs, of those that run. `rows` lead to a workload by `path` ("workload__"), or are workloads. As
    `prices_of`, in the database, for lists.
    """
    metered = MeterSession.objects.filter(workload_id=OuterRef(f"{path}pk")).order_by("-opened_at")
    now = in_force(Now()).filter(organisation_id=OuterRef(f"{path}organisation_id"))
    off = Coalesce(
        Subquery(metered.values("discount_off")[:1]),
        Subquery(now.values("off")[:1]),
        Value(NOTHING_OFF),
        output_field=RATE,
    )
    # Of an elastic gang only the members that run are charged.
    running = metered.filter(closed_at__isnull=True).values("replicas")[:1]
    members = Coalesce(Subquery(running), F(f"{path}member_count"))
    listed = F(f"{path}price_version__rate_fen_per_hour") * members
    net = listed * (Value(Decimal(1)) - off)
    return cast("QuerySet[M]", rows.annotate(paid_rate=ExpressionWrapper(net, output_field=RATE)))
