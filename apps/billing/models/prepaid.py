"""Time that is paid in advance: prices by the day, month and year, orders, and the purchases that they consist of."""

import uuid
from decimal import Decimal

from django.db import models
from django.db.models import DecimalField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Ceil, Now

from apps.billing.choices import PREPAID_TERMS, PrepaidEnd, PrepaidStatus, Term
from apps.billing.models.catalogue import Package
from apps.billing.models.discounts import OFF_PLACES, Discount
from apps.billing.models.ledger import Transfer
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User

# What is listed with the discount taken off, rounded up to a fen (`arithmetic.net_fen`).
_NET = Ceil(
    ExpressionWrapper(
        F("list_fen") * (Value(Decimal(1)) - F("discount_off")),
        output_field=DecimalField(max_digits=30, decimal_places=OFF_PLACES),
    )
)


class TermPrice(models.Model):
    """Fen for one period of one replica, in force in [effective_from, effective_to).

    Immutable but for `effective_to`, which is set once; a trigger keeps it so and lets no instant have two prices.
    A version that ends without a successor: the package is no longer offered for this term.
    """

    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="term_prices")
    term = models.CharField(max_length=8, choices=Term)
    number = models.PositiveIntegerField()
    price_fen = models.BigIntegerField()
    effective_from = models.DateTimeField()
    effective_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["package", "term", "number"]
        constraints = [
            models.UniqueConstraint(fields=["package", "term", "number"], name="term_price_number_once"),
            models.UniqueConstraint(
                fields=["package", "term"], condition=Q(effective_to__isnull=True), name="term_price_one_open_version"
            ),
            models.CheckConstraint(condition=Q(term__in=PREPAID_TERMS), name="term_price_is_prepaid"),
            models.CheckConstraint(condition=Q(price_fen__gt=0), name="term_price_positive"),
            models.CheckConstraint(
                condition=Q(effective_to__isnull=True) | Q(effective_to__gte=F("effective_from")),
                name="term_price_ends_after_start",
            ),
        ]


class PrepaidOrder(TenantModel):
    """`quantity` replicas of a package paid for by the period, for whoever of the organisation runs them.

    Period n is computed from `anchor`, the beginning of the very first, so that it never drifts; the order's purchases
    tile [starts_at, ends_at). Running time is covered in [starts_at, covers_until): up to the end of the grace, or up
    to the moment at which the order was given back or changed. Only the room `prepaid` changes an order.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField()
    term = models.CharField(max_length=8, choices=Term)
    status = models.CharField(max_length=12, choices=PrepaidStatus, default=PrepaidStatus.ACTIVE)
    anchor = models.DateTimeField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    covers_until = models.DateTimeField()
    auto_renew = models.BooleanField(default=False)
    at_end = models.CharField(max_length=8, choices=PrepaidEnd, default=PrepaidEnd.HOURLY)
    # The order whose place it took when the package was changed.
    replaces = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="replaced_by")
    # The buyer's own key: the same order sent twice is one order.
    key = models.CharField(max_length=80)
    # The fewest days before `ends_at` of which a notice has told; null: none yet.
    told_days = models.PositiveSmallIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="prepaid_of_organisation"),
            models.Index(fields=["organisation", "package", "covers_until"], name="prepaid_covers"),
            models.Index(fields=["ends_at"], name="prepaid_ending", condition=Q(status=PrepaidStatus.ACTIVE)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "key"], name="prepaid_key_once"),
            models.CheckConstraint(condition=Q(quantity__gte=1), name="prepaid_quantity_positive"),
            models.CheckConstraint(condition=Q(term__in=PREPAID_TERMS), name="prepaid_term_known"),
            models.CheckConstraint(condition=Q(status__in=list(PrepaidStatus)), name="prepaid_status_known"),
            models.CheckConstraint(condition=Q(at_end__in=list(PrepaidEnd)), name="prepaid_end_known"),
            models.CheckConstraint(
                condition=Q(starts_at__gte=F("anchor"), ends_at__gt=F("starts_at"), covers_until__gte=F("starts_at")),
                name="prepaid_in_order",
            ),
            models.CheckConstraint(
                condition=~Q(status=PrepaidStatus.ACTIVE) | Q(covers_until__gte=F("ends_at")),
                name="prepaid_active_covers_what_is_paid",
            ),
        ]


class PrepaidPurchase(TenantModel):
    """Periods [first_period, first_period + periods) of an order, paid at once and earned day by day.

    What is paid is, at every moment, earned (`recognised_fen`), given back (`returned_fen`) or still deferred. A
    purchase that was cut short at `cut_at` has nothing deferred left.

    `list_fen` is its price before the discount that the organisation had when it paid, which is frozen here
    (`discount_off` is a copy of its share): a renewal takes the one that is in force then.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    order = models.ForeignKey(PrepaidOrder, on_delete=models.PROTECT, related_name="purchases")
    number = models.PositiveIntegerField()
    first_period = models.PositiveIntegerField()
    periods = models.PositiveIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    price = models.ForeignKey(TermPrice, on_delete=models.PROTECT, related_name="+")
    list_fen = models.BigIntegerField()
    discount = models.ForeignKey(Discount, on_delete=models.PROTECT, null=True, related_name="+")
    discount_off = models.DecimalField(
        max_digits=OFF_PLACES + 1, decimal_places=OFF_PLACES, default=Decimal(0), db_default=Decimal(0)
    )
    amount_fen = models.BigIntegerField()
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, related_name="prepaid_purchase")
    recognised_days = models.PositiveIntegerField(default=0)
    recognised_fen = models.BigIntegerField(default=0)
    # The end of the next day that is to be earned; null: all of it is.
    next_recognition_at = models.DateTimeField(null=True)
    returned_fen = models.BigIntegerField(default=0)
    returned = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True, related_name="+")
    cut_at = models.DateTimeField(null=True)
    automatic = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["order", "number"]
        indexes = [
            models.Index(
                fields=["next_recognition_at"],
                name="prepaid_to_recognise",
                condition=Q(next_recognition_at__isnull=False),
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["order", "number"], name="prepaid_purchase_number_once"),
            models.UniqueConstraint(fields=["order", "first_period"], name="prepaid_period_bought_once"),
            models.CheckConstraint(condition=Q(periods__gte=1), name="prepaid_purchase_has_periods"),
            models.CheckConstraint(condition=Q(amount_fen__gt=0), name="prepaid_purchase_positive"),
            models.CheckConstraint(condition=Q(amount_fen=_NET), name="prepaid_purchase_costs_list_less_discount"),
            models.CheckConstraint(
                condition=Q(discount__isnull=False) | Q(discount_off=Decimal(0)),
                name="prepaid_purchase_discount_is_a_version",
            ),
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="prepaid_purchase_not_empty"),
            models.CheckConstraint(
                condition=Q(
                    recognised_fen__gte=0,
                    returned_fen__gte=0,
                    recognised_fen__lte=F("amount_fen") - F("returned_fen"),
                ),
                name="prepaid_never_more_than_paid",
            ),
            models.CheckConstraint(
                condition=Q(next_recognition_at__isnull=False) | Q(recognised_fen=F("amount_fen") - F("returned_fen")),
                name="prepaid_done_is_all_earned",
            ),
            models.CheckConstraint(
                condition=Q(returned_fen=0, returned__isnull=True) | Q(returned_fen__gt=0, returned__isnull=False),
                name="prepaid_returned_moved",
            ),
        ]

    @property
    def deferred_fen(self) -> int:
        """Paid, neither earned nor given back."""
        return self.amount_fen - self.recognised_fen - self.returned_fen


class PrepaidSeat(TenantModel):
    """A workload that started without a hold because a prepaid order had room for it.

    It counts against that room while its hold is open, so that two starts do not take the same place.
    """

    workload_id = models.UUIDField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="+")
    replicas = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["organisation", "package"], name="prepaid_seats")]


class PrepaidStop(TenantModel):
    """Work that an expired order covered and that its owner wanted saved and stopped, not charged by the hour."""

    workload_id = models.UUIDField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    order = models.ForeignKey(PrepaidOrder, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["at"], name="prepaid_stops")]
