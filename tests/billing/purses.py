"""A state machine of what an organisation pays with: what came in, vouchers, prepaid time, and what is left."""

from contextlib import ExitStack, suppress
from datetime import date, timedelta
from fractions import Fraction
from unittest.mock import patch
from uuid import uuid4

from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, RechargeKind, RequestState, TransferKind, VoucherScope
from apps.billing.days import billing_day
from apps.billing.ledger.selectors import voucher_drift
from apps.billing.models import Account, PrepaidOrder, RatingRun, RechargeRequest, Voucher
from apps.billing.payments import proofs, recharge_review
from apps.billing.periods import day_end, days_between, earned_after, used_by
from apps.billing.prepaid.changes import give_back
from apps.billing.prepaid.earning import recognise_due
from apps.billing.prepaid.services import renew
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.billing.vouchers.services import end_due_vouchers, void_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.errors import Conflict, DomainError, InsufficientFunds
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.choices import Role
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    make_staff,
    make_voucher,
    price_of,
    wallet,
)
from tests.billing.model import Metered
from tests.billing.prepaid import buy, clock_at, offer
from tests.billing.purse_alipay import AlipaySteps, picks
from tests.billing.purse_model import Part, Purse

RATES = ("333.3333333333", "780", "0.7")
PERIOD_FEN = (3_001, 25_000)
FIRST_FEN, TWO_PEOPLES = 100_000, 1_000_001


class PurseMachine(AlipaySteps):
    """Each example runs in a transaction of its own, which is rolled back at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(acting(PLATFORM))
        self.stack.enter_context(transaction.atomic())
        self.clock = self.stack.enter_context(clock_at(NOON))
        for module in ("terms", "services"):
            self.stack.enter_context(patch(f"apps.billing.vouchers.{module}.db_now", self.clock))
        self.gateway.deals.clear()
        self.gateway.faults.clear()

    @initialize()
    def begin(self) -> None:
        settings.put(PLATFORM, self.gateway.settings())
        self.lab, self.purse = make_organisation(), Purse()
        self.owner = make_member(self.lab, Role.ADMIN)
        self.staff = [make_staff(), make_staff()]
        self.packages = [make_package(rate) for rate in RATES]
        self.terms = [make_package("1") for _fen in PERIOD_FEN]
        for package, fen in zip(self.terms, PERIOD_FEN, strict=True):
            offer(package, fen=fen)
        self.begin_with_something()

    def begin_with_something(self) -> None:
        """One of each, so that the first step already has much to go on from."""
        services.top_up(PLATFORM, organisation_id=self.lab.pk, amount_fen=FIRST_FEN, reference="first")
        self.purse.came_in += FIRST_FEN
        self.start_payment(60_000, True)
        self.hear(0, "notice", 2, 0)
        self.grant(500, 0)
        self.grant(20_000, None)
        self.prepay(1, 2, True)

    def teardown(self) -> None:
        connection.check_constraints()
        transaction.set_rollback(True)
        self.stack.close()

    # Two people

    @rule(slip=st.sampled_from("ab"))
    def ask_recharge(self, slip: str) -> None:
        lab = self.lab.pk
        proofs.add_proof(self.staff[0], organisation_id=lab, reference=slip, name="slip.pdf", content=b"%PDF-1.7 slip")
        recharge_review.recharge(self.staff[0], organisation_id=lab, amount_fen=TWO_PEOPLES, reference=slip)

    @rule(pick=picks, second=st.integers(0, 1), yes=st.booleans())
    def decide(self, pick: int, second: int, yes: bool) -> None:
        waiting = list(RechargeRequest.objects.filter(organisation=self.lab).order_by("created_at"))
        if not waiting:
            return
        asked = waiting[pick % len(waiting)]
        allowed = asked.state == RequestState.PENDING and second == 1
        sign = -1 if asked.kind == RechargeKind.REVERSAL else 1
        covered = sign > 0 or wallet(self.lab).available_fen >= asked.amount_fen
        if asked.kind == RechargeKind.VOUCHER:
            covered = billing_day(self.clock.now) <= date.fromisoformat(asked.terms["valid_until"])
        try:
            if yes:
                recharge_review.approve(self.staff[second], request_id=asked.pk)
            else:
                recharge_review.deny(self.staff[second], request_id=asked.pk, answer="no")
        except DomainError:
            assert not allowed or not covered
            return
        assert allowed
        if yes and asked.kind == RechargeKind.VOUCHER:
            self.purse.granted += asked.amount_fen
        elif yes:
            self.purse.came_in += sign * asked.amount_fen

    @rule(pick=picks)
    def ask_reversal(self, pick: int) -> None:
        paid = selectors.recharges(PLATFORM).filter(organisation=self.lab, idem__startswith="topup:offline:")
        found = list(paid.filter(kind=TransferKind.TOP_UP).order_by("pk"))
        if not found:
            return
        with suppress(Conflict):
            recharge_review.ask_reversal(self.staff[0], transfer_id=found[pick % len(found)].pk, reason="wrong")

    # Vouchers

    @rule(fen=st.sampled_from((1, 500, 20_000)), package=st.none() | st.integers(0, len(RATES) - 1))
    def grant(self, fen: int, package: int | None) -> None:
        terms = {} if package is None else {"scope": "package", "package": self.packages[package]}
        make_voucher(self.lab, fen, **terms)  # type: ignore[arg-type]
        self.purse.granted += fen

    @rule(key=st.sampled_from("ab"))
    def ask_voucher(self, key: str) -> None:
        first = billing_day(self.clock.now)
        spec = VoucherSpec(TWO_PEOPLES, VoucherScope.EVERYTHING, first, first + timedelta(days=1))
        with suppress(Conflict):  # the key was used on another day before
            made = recharge_review.grant(self.staff[0], organisation_id=self.lab.pk, spec=spec, key=key)
            assert isinstance(made, RechargeRequest)

    @rule(pick=picks)
    def void(self, pick: int) -> None:
        found = list(Voucher.objects.filter(organisation=self.lab).order_by("pk"))
        if not found:
            return
        self.rate()
        one = Voucher.objects.get(pk=found[pick % len(found)].pk)
        try:
            void_voucher(PLATFORM, voucher_id=one.pk, reason="wrong")
        except Conflict:
            assert one.left_fen == 0 or one.valid_until <= self.clock.now
        else:
            self.purse.ended += 0 if one.voided_at else one.left_fen

    # Prepaid

    @rule(which=st.integers(0, len(PERIOD_FEN) - 1), quantity=st.integers(1, 3), again=st.booleans())
    def prepay(self, which: int, quantity: int, again: bool) -> None:
        fen, key = PERIOD_FEN[which] * quantity, uuid4().hex
        available = wallet(self.lab).available_fen
        try:
            with acting(self.owner):
                made = buy(self.owner, self.terms[which], quantity=quantity, key=key)
                assert not again or buy(self.owner, self.terms[which], quantity=quantity, key=key).pk == made.pk
        except InsufficientFunds:
            assert available < fen
        else:
            assert available >= fen
            self.purse.parts.append(Part(made, fen, made.starts_at, made.ends_at))

    @precondition(lambda self: self.purse.parts)
    @rule(pick=picks)
    def renew_one(self, pick: int) -> None:
        part = self.purse.parts[pick % len(self.purse.parts)]
        order = PrepaidOrder.objects.get(pk=part.order.pk)
        available, end = wallet(self.lab).available_fen, order.ends_at
        fen = PERIOD_FEN[[package.pk for package in self.terms].index(order.package_id)] * order.quantity
        try:
            with acting(self.owner):
                made = renew(self.owner, order_id=order.pk, after=end)
        except InsufficientFunds:
            assert available < fen
        except Conflict:
            assert part.cut or order.covers_until <= self.clock.now
        else:
            self.purse.parts.append(Part(made, fen, end, made.ends_at))

    @precondition(lambda self: self.purse.parts)
    @rule(pick=picks)
    def give_one_back(self, pick: int) -> None:
        chosen = self.purse.parts[pick % len(self.purse.parts)].order.pk
        for _again in range(2):
            with acting(self.owner):
                try:
                    give_back(self.owner, order_id=chosen)
                except Conflict:
                    return
        for part in self.purse.parts:
            if part.order.pk == chosen and not part.cut and part.earned < part.fen:
                part.earned = used_by(part.fen, part.start, part.end, self.clock.now)
                part.returned, part.cut = part.fen - part.earned, True

    # Use and time

    @rule(package=st.integers(0, len(RATES) - 1), minutes=st.sampled_from((1, 59, 61, 601)))
    def use(self, package: int, minutes: int) -> None:
        run = Run(self.owner, price_of(self.packages[package]), opened=self.clock.now).open()
        self.purse.sessions.append(Metered(run, Fraction(run.price.rate_fen_per_hour), run.opened, run.opened))
        run.close(self.clock.on(minutes=minutes) - run.opened)
        self.purse.sessions[-1].proven = self.clock.now
        self.rate()

    def rate(self) -> None:
        before = self.spendable()
        rated = services.rate_due(PLATFORM, until=self.clock.now)
        assert services.rate_due(PLATFORM, until=self.clock.now) == 0
        for each in self.purse.sessions:
            each.rated = each.proven
        if rated and before and self.spendable() > 1:
            run = RatingRun.objects.filter(organisation=self.lab).order_by("-number")[0]
            assert run.cash_fen <= 1  # a fitting voucher pays first; a fen apart by rounding

    def spendable(self) -> int:
        rows = Voucher.objects.filter(organisation=self.lab, scope="everything", voided_at__isnull=True)
        return int(rows.filter(valid_until__gt=self.clock.now).aggregate(fen=Sum("left_fen"))["fen"] or 0)

    @rule(hours=st.sampled_from((1, 25, 24 * 6)))
    def wait(self, hours: int) -> None:
        now = self.clock.on(hours=hours)
        for _again in range(2):
            recognise_due(PLATFORM, now=now)
            prepaid_sweep(PLATFORM, now=now)
            end_due_vouchers(PLATFORM, now=now)
        for part in self.purse.parts:
            if not part.cut:
                total = days_between(part.start, part.end)
                over = sum(day_end(part.start, part.end, day) <= now for day in range(1, total + 1))
                part.earned = earned_after(part.fen, part.start, part.end, over)
        rows = Voucher.objects.filter(organisation=self.lab)
        over = rows.filter(valid_until__lte=now - timedelta(hours=1)) | rows.filter(voided_at__isnull=False)
        self.purse.ended = sum(each.amount_fen - each.used_fen for each in over)

    def paid_by_vouchers(self) -> int:
        return int(Voucher.objects.filter(organisation=self.lab).aggregate(fen=Sum("used_fen"))["fen"] or 0)

    # What always holds

    @invariant()
    def every_account_is_what_the_model_says(self) -> None:
        purse, by_voucher = self.purse, self.paid_by_vouchers()
        expected = {
            AccountKind.CASH: purse.came_in - purse.prepaid - (purse.used - by_voucher),
            AccountKind.VOUCHER: purse.granted - purse.ended - by_voucher,
            AccountKind.DEFERRED: purse.prepaid - purse.earned,
            AccountKind.REVENUE: purse.used + purse.earned,
        }
        assert {kind: balance(self.lab, kind) for kind in expected} == expected

    @invariant()
    def the_books_are_right(self) -> None:
        assert Account.objects.aggregate(all=Sum("balance_fen"))["all"] == 0
        assert (selectors.drift(), selectors.unbalanced_runs(), voucher_drift()) == ([], [], [])
