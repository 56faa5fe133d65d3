"""kill -9 at every point of closing a month and of what is done to its statements: each number is given once."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.db.models import Sum

from apps.billing.choices import StatementSection, StatementState
from apps.billing.models import Statement, StatementLine
from apps.billing.statements import services as statements
from apps.billing.statements.closing import close_month
from apps.billing.statements.digest import is_intact
from apps.notifications.models import Notice
from apps.tenants.models import Organisation
from tests.billing.builders import (
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    price_of,
    top_up,
)
from tests.billing.killing_kit import World, again, kill_everywhere, logged
from tests.billing.statements_kit import MIDDLE, NOVEMBER, OCTOBER, build, posted_at, rate

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
serials = count(1)


def with_use(lab: Organisation) -> None:
    """A thousand fen came in and 83 and a third were used in October."""
    run = Run(make_member(lab), price_of(make_package("33.3333333333")), opened=MIDDLE)
    with posted_at(MIDDLE + timedelta(hours=3)):
        top_up(lab, 1000)
        run.open().close(timedelta(minutes=150))
        rate(lab, NOVEMBER.start)


def the_statement(lab: Organisation) -> Statement:
    return Statement.objects.select_related("organisation").get(organisation=lab)


def adds_up(statement: Statement) -> None:
    lines = StatementLine.objects.filter(statement=statement, section=StatementSection.BILL)
    assert lines.aggregate(fen=Sum("amount_fen"))["fen"] == statement.total_fen == 83
    assert statement.closing_fen == balance(statement.organisation) == 1000 - 83


def test_a_month_whose_closing_died_anywhere_is_closed_for_everybody_once() -> None:
    labs: dict[World, list[Organisation]] = {}

    def close() -> int:
        return close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at)

    def prepare(world: World) -> Callable[[], Any]:
        labs[world] = [world.lab, make_organisation()]
        for lab in labs[world]:
            with_use(lab)
        return close

    def at_once(world: World) -> None:
        for made in Statement.objects.select_related("organisation").filter(organisation__in=labs[world]):
            adds_up(made)

    def check(world: World) -> None:
        for lab in labs[world]:
            made = the_statement(lab)
            adds_up(made)
            assert (made.complete, made.state) == (True, StatementState.DRAFT)
        assert close() == 0

    names = kill_everywhere(prepare, lambda world: close(), check, at_once=at_once)
    assert names.count("after commit in apps.billing.statements.services.build") == 2  # one transaction for each


def drafted(world: World) -> Statement:
    with_use(world.lab)
    return build(world.lab)


def test_a_statement_is_reviewed_and_issued_once_under_one_number() -> None:
    def issue(world: World) -> None:
        pk = the_statement(world.lab).pk
        again(
            lambda: statements.review(PLATFORM, statement_id=pk),
            lambda: statements.issue(PLATFORM, statement_id=pk),
        )

    def prepare(world: World) -> Callable[[], Any]:
        drafted(world)
        return lambda: issue(world)

    def at_once(world: World) -> None:
        made = the_statement(world.lab)
        assert (made.state == StatementState.ISSUED) == (made.serial is not None) == is_intact(made)

    def check(world: World) -> None:
        made = the_statement(world.lab)
        assert made.state == StatementState.ISSUED
        assert made.serial == next(serials)  # without gaps, whoever died over the former ones
        assert is_intact(made)
        adds_up(made)
        acts = [f"billing.statement.{state}" for state in (StatementState.REVIEWED, StatementState.ISSUED)]
        assert logged("statement", made.pk) == acts
        told = Notice.objects.filter(organisation=world.lab, kind="billing.statement")
        assert [each.data["period"] for each in told] == ["2026-10"]

    names = kill_everywhere(prepare, issue, check, at_once=at_once)
    assert "after commit in apps.billing.statements.services.review" in names
    assert "before commit in apps.billing.statements.services.issue" in names


def test_a_review_that_is_withdrawn_is_withdrawn_once_and_the_draft_can_be_built_again() -> None:
    def reopen(world: World) -> None:
        pk = the_statement(world.lab).pk
        again(lambda: statements.reopen(PLATFORM, statement_id=pk, reason="a late credit"))

    def prepare(world: World) -> Callable[[], Any]:
        statements.review(PLATFORM, statement_id=drafted(world).pk)
        return lambda: reopen(world)

    def check(world: World) -> None:
        made = the_statement(world.lab)
        assert (made.state, made.reason, made.reviewed_at) == (StatementState.DRAFT, "a late credit", None)
        assert logged("statement", made.pk) == ["billing.statement.reviewed", "billing.statement.draft"]
        adds_up(build(world.lab))

    assert len(kill_everywhere(prepare, reopen, check)) >= 2
