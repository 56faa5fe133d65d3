"""A state machine of prepaid time: bought, renewed, changed, given back, earned late or twice, in any order."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Sum
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.billing import selectors
from apps.billing.choices import AccountKind, PrepaidStatus, Term, TransferKind
from apps.billing.models import PrepaidOrder, PrepaidPurchase, Transfer
from apps.billing.periods import days_between, earned_after, period_start, used_by
from apps.billing.prepaid.changes import change, give_back
from apps.billing.prepaid.earning import recognise_due
from apps.billing.prepaid.selectors import prepaid_drift, refundable_fen
from apps.billing.prepaid.services import renew
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.common.errors import Conflict, InsufficientFunds, Invalid
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.billing.builders import PLATFORM, balance, make_member, make_organisation, make_package, top_up
from tests.billing.prepaid import MONTH_END, buy, clock_at, offer

STEPS = ({"minutes": 7}, {"hours": 23, "microseconds": 1}, {"days": 1}, {"days": 3}, {"days": 31}, {"days": 400})
TERMS = st.sampled_from((Term.DAY, Term.MONTH, Term.YEAR))
PRICES = {Term.DAY: 1_001, Term.MONTH: 30_007, Term.YEAR: 300_011}
FIRST_MONEY = 700_000
# In the billing zone: a 31st before a February of 28 days and before one of 29, and a 29 February before three without.
STARTS = (MONTH_END, datetime(2096, 1, 31, 15, tzinfo=UTC), datetime(2096, 2, 29, 15, tzinfo=UTC))
picks = st.integers(0, 20)


class PrepaidMachine(RuleBasedStateMachine):
    """Each example runs in a transaction of its own, which is rolled back at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(acting(PLATFORM))
        self.stack.enter_context(transaction.atomic())
        self.clock = self.stack.enter_context(clock_at())

    @initialize(start=st.sampled_from(STARTS))
    def begin(self, start: datetime) -> None:
        self.clock.now = start
        self.lab = make_organisation()
        self.alice = make_member(self.lab, Role.ADMIN)
        self.money = 0
        self.top_up(FIRST_MONEY)
        self.packages = [make_package(100), make_package(300)]
        for factor, package in enumerate(self.packages, 1):
            for term, fen in PRICES.items():
                offer(package, term, fen * factor)
        self.buy(0, Term.MONTH, 1, True)

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.stack.close()

    @property
    def orders(self) -> list[PrepaidOrder]:
        return list(PrepaidOrder.objects.filter(status=PrepaidStatus.ACTIVE).order_by("created_at", "pk"))

    @rule(fen=st.sampled_from((1, 50_000)))
    def top_up(self, fen: int) -> None:
        top_up(self.lab, fen)
        self.money += fen

    @rule(which=st.integers(0, 1), term=TERMS, quantity=st.integers(1, 3), auto_renew=st.booleans())
    def buy(self, which: int, term: Term, quantity: int, auto_renew: bool) -> None:
        before = balance(self.lab)
        try:
            made = buy(self.alice, self.packages[which], term=term, quantity=quantity, auto_renew=auto_renew)
        except InsufficientFunds:
            assert before < PRICES[term] * (which + 1) * quantity
        else:
            assert before - balance(self.lab) == made.purchases.get().amount_fen

    @rule(step=st.sampled_from(STEPS))
    def wait(self, step: dict[str, float]) -> None:
        self.clock.on(**step)

    @rule()
    def earn(self) -> None:
        recognise_due(PLATFORM, now=self.clock.now)
        for part in PrepaidPurchase.objects.filter(cut_at__isnull=True):
            days = min(
                (self.clock.now - part.starts_at) // timedelta(days=1), days_between(part.starts_at, part.ends_at)
            )
            over = part.ends_at <= self.clock.now
            due = earned_after(part.amount_fen, part.starts_at, part.ends_at, max(days, 0))
            assert part.recognised_fen == (part.amount_fen if over else due)
        assert recognise_due(PLATFORM, now=self.clock.now) == 0

    @rule()
    def sweep(self) -> None:
        over = {order.pk for order in self.orders if order.covers_until <= self.clock.now}
        prepaid_sweep(PLATFORM, now=self.clock.now)
        assert not over & {order.pk for order in self.orders}

    @precondition(lambda self: self.orders)
    @rule(pick=picks, periods=st.integers(1, 2), twice=st.booleans())
    def renew(self, pick: int, periods: int, twice: bool) -> None:
        order = self.orders[pick % len(self.orders)]
        try:
            after = renew(self.alice, order_id=order.pk, after=order.ends_at, periods=periods)
            if twice:
                paid = balance(self.lab)
                renew(self.alice, order_id=order.pk, after=order.ends_at, periods=periods)
                assert balance(self.lab) == paid
        except InsufficientFunds:
            return
        except Conflict:
            assert order.covers_until <= self.clock.now
            return
        assert after.ends_at > order.ends_at

    @precondition(lambda self: self.orders)
    @rule(pick=picks, which=st.integers(0, 1), quantity=st.integers(1, 3))
    def change(self, pick: int, which: int, quantity: int) -> None:
        order = self.orders[pick % len(self.orders)]
        try:
            made = change(self.alice, order_id=order.pk, package_id=self.packages[which].pk, quantity=quantity)
        except (InsufficientFunds, Conflict, Invalid):
            return
        assert (made.anchor, made.ends_at, made.starts_at) == (order.anchor, order.ends_at, self.clock.now)

    @precondition(lambda self: self.orders)
    @rule(pick=picks)
    def give_back(self, pick: int) -> None:
        order = self.orders[pick % len(self.orders)]
        promised, before = refundable_fen(order, self.clock.now), balance(self.lab)
        try:
            give_back(self.alice, order_id=order.pk)
        except Conflict:
            assert order.covers_until <= self.clock.now
            return
        assert balance(self.lab) - before == promised

    @invariant()
    def no_fen_is_lost(self) -> None:
        kinds = (AccountKind.CASH, AccountKind.DEFERRED, AccountKind.REVENUE)
        assert sum(balance(self.lab, kind) for kind in kinds) == self.money
        assert selectors.drift() == []
        assert prepaid_drift() == []

    @invariant()
    def the_ledger_says_what_the_purchases_say(self) -> None:
        sums = PrepaidPurchase.objects.aggregate(Sum("amount_fen"), Sum("recognised_fen"), Sum("returned_fen"))
        kinds = (TransferKind.PREPAYMENT, TransferKind.RECOGNITION, TransferKind.PREPAYMENT_BACK)
        moved = [Transfer.objects.filter(kind=kind).aggregate(fen=Sum("amount_fen"))["fen"] for kind in kinds]
        assert list(sums.values()) == [fen or 0 for fen in moved]

    @invariant()
    def nobody_earns_ahead_of_time(self) -> None:
        for part in PrepaidPurchase.objects.all():
            used = used_by(part.amount_fen, part.starts_at, part.ends_at, part.cut_at or self.clock.now)
            assert part.recognised_fen <= used
            assert part.returned_fen in (0, part.amount_fen - used)

    @invariant()
    def purchases_follow_each_other_on_the_calendar(self) -> None:
        for order in PrepaidOrder.objects.prefetch_related("purchases"):
            parts = sorted(order.purchases.all(), key=lambda part: part.number)
            assert [part.starts_at for part in parts] == [order.starts_at, *(part.ends_at for part in parts[:-1])]
            assert parts[-1].ends_at == order.ends_at
            for part in parts:
                last = part.first_period + part.periods
                assert part.ends_at == period_start(order.anchor, Term(order.term), last)
