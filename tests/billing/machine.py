"""A state machine of everything that touches money, checked against a model in memory after each step."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any
from uuid import uuid4

from django.db import connection, transaction
from django.db.models import Count, F, Sum
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from apps.billing import selectors, services
from apps.billing.arrears import states
from apps.billing.choices import BLOCKING, AccountKind, TransferKind
from apps.billing.ledger.services import platform_account
from apps.billing.models import Account, ArrearsState, Charge, Hold, RatingRun, UsageSlice
from apps.common.errors import Conflict, InsufficientFunds
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from tests.billing.builders import PLATFORM, Run, make_member, make_organisation, make_package, price_of, wallet
from tests.billing.machine_storage import StorageSteps
from tests.billing.model import Lab, Metered
from tests.billing.storage_model import Tariff

# Two hours before a leap day begins in UTC, in which the billing zone's day begins too; after everything that the
# database dates by itself, whenever the tests run.
START = datetime(2096, 2, 28, 22, tzinfo=UTC)
STEPS = (
    timedelta(microseconds=1),
    timedelta(seconds=59, microseconds=999_999),
    timedelta(seconds=61, microseconds=7),
    timedelta(minutes=37),
    timedelta(hours=3),
    timedelta(hours=26),
)
BACK = (timedelta(0), timedelta(seconds=3), timedelta(minutes=50))
RATES = ("0.4", "333.3333333333", "780", "20000")
FIRST_MONEY = 50_000
labs = st.integers(0, 1)
picks = st.integers(0, 100)


class MoneyMachine(StorageSteps):
    """Each example runs in a transaction of its own, which is rolled back at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = acting(PLATFORM)
        self.scope.__enter__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.now = START

    @initialize()
    def begin(self) -> None:
        self.labs = [Lab(make_organisation()) for _ in range(2)]
        self.people = [make_member(lab.organisation, Role.ADMIN) for lab in self.labs]
        self.packages = [make_package(rate) for rate in RATES]
        self.tariff = Tariff()
        for which in range(2):
            self.top_up(which, FIRST_MONEY, "first")
            self.start(which, which + 1, 1, True)
        self.begin_storage()

    def teardown(self) -> None:
        connection.check_constraints()  # foreign keys that would be checked at the commit
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)
        self.scope.__exit__(None, None, None)

    # Decisions

    @rule(which=labs, what=st.integers(0, 2), size=st.integers(0, 2), package=st.integers(0, len(RATES) - 1))
    def decide(self, which: int, what: int, size: int, package: int) -> None:
        """One of the rarer decisions; together one rule, so that they do not crowd out what runs."""
        if what == 0:
            self.refund(which, (1, 700, 60_000)[size])
        elif what == 1:
            self.set_credit(which, (0, 50, 5_000)[size])
        else:
            self.change_price(package, ("0.0000000001", "77.7", "1234")[size])

    @rule(which=labs, fen=st.sampled_from((1, 999, 100_000)), slip=st.sampled_from("abcd"))
    def top_up(self, which: int, fen: int, slip: str) -> None:
        lab = self.labs[which]
        before = self.status_of(lab)
        known = lab.slips.get(slip)
        try:
            services.top_up(PLATFORM, organisation_id=lab.organisation.pk, amount_fen=fen, reference=slip)
        except Conflict:
            assert known not in (None, fen)
        else:
            assert known in (None, fen)
            lab.paid_in += 0 if known else fen
            lab.slips[slip] = fen
        self.check_edge(before, self.status_of(lab))

    def set_credit(self, which: int, fen: int) -> None:
        lab = self.labs[which]
        services.set_credit_limit(PLATFORM, organisation_id=lab.organisation.pk, credit_limit_fen=fen)
        lab.credit = fen

    def refund(self, which: int, fen: int) -> None:
        lab = self.labs[which]
        purse = wallet(lab.organisation)
        posting = services.Posting(
            debit=purse,
            credit=platform_account(AccountKind.REFUND_CLEARING),
            amount_fen=fen,
            kind=TransferKind.REFUND,
            idem=f"refund:{uuid4()}",
        )
        try:
            services.post(PLATFORM, posting=posting)
        except InsufficientFunds:
            assert purse.available_fen < fen
        else:
            assert purse.available_fen >= fen
            lab.refunded += fen

    @rule(which=labs, package=st.integers(0, len(RATES) - 1), replicas=st.sampled_from((1, 3)), at_once=st.booleans())
    def start(self, which: int, package: int, replicas: int, at_once: bool) -> None:
        lab = self.labs[which]
        price = price_of(self.packages[package])
        run = Run(self.people[which], price, opened=self.now, replicas=replicas)
        needed = ceil(Fraction(price.rate_fen_per_hour) * replicas)
        available, blocked = wallet(lab.organisation).available_fen, self.status_of(lab) in BLOCKING
        try:
            hold = run.hold()
        except InsufficientFunds:
            assert blocked or available < needed
        else:
            assert not blocked
            assert available >= needed == hold.amount_fen
            if at_once:
                self.launch(lab, run)
            else:
                lab.waiting.append(run)

    def change_price(self, package: int, rate: str) -> None:
        services.set_price(PLATFORM, package_id=self.packages[package].pk, rate_fen_per_hour=Decimal(rate))

    # The kernel

    @rule(steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=3), back=st.sampled_from(BACK))
    def live(self, steps: list[timedelta], back: timedelta) -> None:
        """Time passes; the kernel sees what runs, perhaps late, and the platform's loops turn."""
        for step in steps:
            self.now += step
            self.see(self.now - back)
            self.rate()
            self.sweep()

    @rule(step=st.sampled_from(STEPS), seen=st.booleans())
    def be_down(self, step: timedelta, seen: bool) -> None:
        """Time passes and nothing is rated; perhaps not even seen."""
        self.now += step
        if seen:
            self.see(self.now)

    @precondition(lambda self: any(lab.waiting for lab in self.labs))
    @rule(pick=picks)
    def run_one(self, pick: int) -> None:
        lab, run = self.choose([(lab, run) for lab in self.labs for run in lab.waiting], pick)
        lab.waiting.remove(run)
        self.launch(lab, run)

    @precondition(lambda self: any(lab.running for lab in self.labs))
    @rule(pick=picks, back=st.sampled_from(BACK), again=st.booleans())
    def end(self, pick: int, back: timedelta, again: bool) -> None:
        """The attempt ends, at times earlier than was proven; it is tried again, or its money is let go."""
        lab, metered = self.choose([(lab, each) for lab in self.labs for each in lab.running], pick)
        run = metered.run
        run.close(self.now - back - run.opened)
        metered.proven = max(run.opened, self.now - back)
        metered.closed = True
        run.close(self.now - run.opened)
        if again:
            lab.waiting.append(Run(run.actor, run.price, replicas=run.replicas, workload_id=run.workload_id))
        else:
            run.release().release()
            lab.released.add(run.workload_id)

    @precondition(lambda self: any(each.closed for lab in self.labs for each in lab.sessions))
    @rule(pick=picks, back=st.sampled_from((*BACK, *STEPS)))
    def credit(self, pick: int, back: timedelta) -> None:
        """It had to give way: what it did since its last checkpoint is given back, once, and no more than that."""
        ended = [(lab, each) for lab in self.labs for each in lab.sessions if each.closed]
        _lab, each = self.choose(ended, pick)
        since = each.proven - back
        fen = services.credit_lost(PLATFORM, session_id=each.run.session_id, since=since)
        each.rated = each.proven
        if not each.credited:
            each.credited = each.exact(each.proven) - each.exact(max(since, each.run.opened))
        assert 0 <= each.credited <= each.exact(each.proven)
        assert services.credit_lost(PLATFORM, session_id=each.run.session_id, since=each.run.opened) >= fen
        if not each.credited:  # nothing was given back the first time, so the second gave back all
            each.credited = each.exact(each.proven)

    @precondition(lambda self: any(lab.waiting for lab in self.labs))
    @rule(pick=picks)
    def give_up(self, pick: int) -> None:
        lab, run = self.choose([(lab, run) for lab in self.labs for run in lab.waiting], pick)
        lab.waiting.remove(run)
        run.release()
        lab.released.add(run.workload_id)

    # The platform's loops

    def see(self, at: datetime) -> None:
        for metered in [each for lab in self.labs for each in lab.running]:
            metered.run.seen(at - metered.run.opened)
            metered.proven = max(metered.proven, at)
        self.look_at_storage()

    def rate(self) -> None:
        services.rate_due(PLATFORM, until=self.now)
        for lab in self.labs:
            for each in lab.sessions:
                if each.closed or each.proven - each.rated >= timedelta(minutes=1):
                    each.rated = each.proven
        self.rate_storage()
        assert services.rate_due(PLATFORM, until=self.now) == 0

    def sweep(self) -> None:
        for change in services.arrears_sweep(PLATFORM, now=self.now):
            self.check_edge(change.before, change.after)

    # What always holds

    @invariant()
    def the_books_are_right(self) -> None:
        self.balances_are_what_the_model_says()
        self.charges_and_remainder_are_the_exact_cost()
        self.slices_tile_each_session()
        self.storage_tiles()
        self.a_hold_is_open_while_its_work_is()
        self.each_transition_was_told_once()

    def balances_are_what_the_model_says(self) -> None:
        accounts = list(Account.objects.all())
        assert sum(account.balance_fen for account in accounts) == 0
        purses = {each.organisation_id: each for each in accounts if each.kind == AccountKind.CASH}
        for lab in self.labs:
            purse = purses.get(lab.organisation.pk, Account())
            assert (purse.balance_fen, purse.credit_limit_fen) == (lab.balance, lab.credit)
        assert selectors.drift() == []

    def charges_and_remainder_are_the_exact_cost(self) -> None:
        charges = Charge.objects.values("organisation_id").annotate(exact=Sum("exact_fen"), fen=Sum("amount_fen"))
        sums = {row["organisation_id"]: row for row in charges}
        carried = dict(RatingRun.objects.order_by("number").values_list("organisation_id", "carried_out"))
        for lab in self.labs:
            row = sums.get(lab.organisation.pk, {"exact": 0, "fen": 0})
            assert Fraction(row["exact"]) == lab.exact
            assert row["fen"] + Fraction(carried.get(lab.organisation.pk, 0)) == lab.exact
        assert selectors.unbalanced_runs() == []
        assert (selectors.session_drift(), selectors.day_drift()) == ([], [])

    def slices_tile_each_session(self) -> None:
        lengths = UsageSlice.objects.values("session_id").annotate(length=Sum(F("end") - F("start")))
        stored = dict(lengths.values_list("session_id", "length"))
        for lab in self.labs:
            for each in lab.sessions:
                length, rated = stored.get(each.run.session_id, timedelta(0)), each.rated - each.run.opened
                assert length >= rated if each.closed else length == rated  # what is given back stays stored

    def a_hold_is_open_while_its_work_is(self) -> None:
        open_holds = list(Hold.objects.filter(end__isnull=True).values_list("workload_id", flat=True))
        assert len(open_holds) == len(set(open_holds))
        for lab in self.labs:
            live = {run.workload_id for run in lab.waiting} | {each.run.workload_id for each in lab.running}
            unsettled = {each.run.workload_id for each in lab.sessions if each.rated != each.proven}
            mine = {workload for workload in open_holds if workload in live | lab.released}
            assert live <= mine <= live | unsettled

    def each_transition_was_told_once(self) -> None:
        changes = dict(ArrearsState.objects.filter(changes__gt=0).values_list("pk", "changes"))
        mine = Notice.objects.filter(kind__in=states.NOTICES.values())
        told = mine.values("organisation_id").annotate(n=Count("pk"))
        assert dict(told.values_list("organisation_id", "n")) == changes

    def launch(self, lab: Lab, run: Run) -> None:
        run.opened = self.now
        run.open()
        rate = Fraction(run.price.rate_fen_per_hour) * (1 - self.tariff.off(lab.organisation.pk, self.now))
        lab.sessions.append(Metered(run, rate, self.now, self.now))

    def choose(self, options: list[Any], pick: int) -> Any:
        return options[pick % len(options)]

    def status_of(self, lab: Lab) -> str:
        return selectors.wallet(PLATFORM, organisation_id=lab.organisation.pk).status

    def check_edge(self, before: Any, after: Any) -> None:
        assert before == after or after in states.TRANSITIONS[before]
