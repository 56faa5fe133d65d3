"""Σ lines + rounding = bill = Σ transfers, for whatever has happened in two months, against the real ledger."""

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.billing import services
from apps.billing.adjustments.services import Note, post_adjustment
from apps.billing.choices import AccountKind, RechargeKind, StatementSection, TransferKind
from apps.billing.models import Discount, Statement, StatementLine, Transfer
from apps.billing.months import Month
from apps.billing.statements import revenue
from apps.billing.statements.digest import canonical
from apps.common.errors import InsufficientFunds
from tests.billing.builders import (
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    make_voucher,
    price_of,
    top_up,
)
from tests.billing.statements_kit import MIDDLE, NOVEMBER, build, posted_at, rate
from tests.searching import examples

MINUTE = timedelta(minutes=1)
DECEMBER = NOVEMBER.next()
# (what, how much, which run, posted so many minutes after the step before); the last steps lie beyond the month's end.
STEP = st.tuples(
    st.sampled_from(["top_up", "voucher", "run", "seen", "close", "close", "credit", "rate", "rate", "adjust"]),
    st.integers(1, 400),
    st.integers(0, 3),
    st.sampled_from([0, 7, 600, 6000, 15000]),
)


class World:
    """An organisation with a few packages, some of them at prices with fractions of a fen, and a discount."""

    def __init__(self) -> None:
        self.lab = make_organisation()
        self.alice = make_member(self.lab)
        self.prices = [price_of(make_package(rate)) for rate in ("780", "0.7", "33.3333333333")]
        self.runs: list[Run] = []
        self.now = MIDDLE
        Discount.objects.create(
            organisation=self.lab, number=1, off=Decimal("0.15"), effective_from=MIDDLE + 90 * MINUTE, made_by="tests"
        )

    def step(self, what: str, size: int, which: int, minutes: int) -> None:
        self.now = min(self.now + minutes * MINUTE, DECEMBER.start - MINUTE)
        with posted_at(self.now):
            getattr(self, f"do_{what}")(size, which)

    def do_top_up(self, size: int, which: int) -> None:
        top_up(self.lab, size * 10)

    def do_voucher(self, size: int, which: int) -> None:
        make_voucher(self.lab, size, valid_from=MIDDLE - 60 * MINUTE)

    def do_run(self, size: int, which: int) -> None:
        price = self.prices[which % len(self.prices)]
        opened = MIDDLE + size * MINUTE
        self.runs.append(Run(self.alice, price, opened=opened, replicas=which + 1).open())

    def do_seen(self, size: int, which: int) -> None:
        if self.runs:
            self.runs[which % len(self.runs)].seen(size * MINUTE)

    def do_close(self, size: int, which: int) -> None:
        if self.runs:
            self.runs[which % len(self.runs)].close(size * MINUTE)

    def do_credit(self, size: int, which: int) -> None:
        if not self.runs:
            return
        run = self.runs[which % len(self.runs)]
        run.close(size * MINUTE)
        services.credit_lost(PLATFORM, session_id=run.session_id, since=run.opened + size * MINUTE / 2)

    def do_adjust(self, size: int, which: int) -> None:
        kind = RechargeKind.CREDIT_NOTE if which % 2 else RechargeKind.DEBIT_NOTE
        note = Note(kind, size, uuid4().hex, "agreed by phone")
        with suppress(InsufficientFunds):
            post_adjustment(PLATFORM, organisation_id=self.lab.pk, note=note)

    def do_rate(self, size: int, which: int) -> None:
        rate(self.lab, NOVEMBER.end)


def bill_of(statement: Statement) -> Any:
    lines = StatementLine.objects.filter(statement=statement, section=StatementSection.BILL)
    return lines.aggregate(fen=Sum("amount_fen"))["fen"] or 0


def wallet_of(statement: Statement) -> Any:
    lines = StatementLine.objects.filter(statement=statement, section=StatementSection.WALLET)
    return lines.aggregate(fen=Sum("amount_fen"))["fen"] or 0


def moved(statement: Statement) -> int:
    """Fen of all that is billed in the month, one transfer after another; here no run straddles its end."""
    month, total = Month(statement.period), 0
    rows = Transfer.objects.filter(organisation=statement.organisation_id, at__gte=month.start, at__lt=month.end)
    for each in rows.select_related("credit"):
        if each.kind in (TransferKind.USAGE, TransferKind.CORRECTION, TransferKind.CREDIT, TransferKind.ADJUSTMENT):
            total += each.amount_fen if each.credit.kind == AccountKind.REVENUE else -each.amount_fen
    return total


@pytest.mark.usefixtures("platform")
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=4, max_size=24))
def test_lines_bill_and_ledger_are_one(steps: list[tuple[str, int, int, int]]) -> None:
    with transaction.atomic():
        world = World()
        for each in steps:
            world.step(*each)
        october, november = build(world.lab), build(world.lab, NOVEMBER)
        for statement in (october, november):
            assert bill_of(statement) == statement.total_fen == moved(statement)
            assert statement.total_fen == statement.cash_fen + statement.voucher_fen
            assert statement.opening_fen + wallet_of(statement) == statement.closing_fen
        assert (october.opening_fen, november.opening_fen) == (0, october.closing_fen)
        assert november.closing_fen == balance(world.lab)
        assert october.total_fen + november.total_fen == balance(world.lab, AccountKind.REVENUE)
        assert abs(october.total_fen - october.exact_fen) < 1
        again = canonical(build(world.lab))
        assert again == canonical(october)
        transaction.set_rollback(True)


@pytest.mark.usefixtures("platform")
@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=4, max_size=16))
def test_revenue_is_the_sum_of_the_statements(steps: list[tuple[str, int, int, int]]) -> None:
    with transaction.atomic():
        world = World()
        for each in steps:
            world.step(*each)
        books = revenue.monthly_books(PLATFORM, last=NOVEMBER, count=2)
        made = [build(world.lab), build(world.lab, NOVEMBER)]
        assert [book.consumption_fen + book.adjusted_fen for book in books] == [each.total_fen for each in made]
        assert [book.voucher_fen for book in books] == [each.voucher_fen for each in made]
        assert [book.received_fen for book in books] == [each.received_fen for each in made]
        for book in books:
            packages = revenue.by_package(PLATFORM, month=book.month)
            organisations = revenue.by_organisation(PLATFORM, month=book.month)
            assert sum(row["fen"] for row in organisations) == book.recognised_fen
            assert sum(each.fen for each in packages) + book.adjusted_fen == book.recognised_fen
        assert all(each.fen == 0 for each in revenue.revenue_checks(PLATFORM, month=NOVEMBER))
        transaction.set_rollback(True)
