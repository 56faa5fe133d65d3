"""Closing a month over all organisations: each on its own, killed and run again, nothing kept in memory."""

from datetime import timedelta
from unittest.mock import patch
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.billing.choices import StatementState
from apps.billing.models import Statement
from apps.billing.months import Month
from apps.billing.statements import closing as statements_closing
from apps.billing.statements import services as statements
from apps.billing.statements.closing import apply_to_all, build_now, close_due, close_month
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, make_organisation, top_up
from tests.billing.statements_kit import MIDDLE, NOVEMBER, OCTOBER, build, posted_at

MINUTE = timedelta(minutes=1)


@pytest.fixture
def labs(platform: Actor) -> list[Organisation]:
    """Five that moved money in October, and one that never did."""
    made = [make_organisation() for _ in range(5)]
    with posted_at(MIDDLE):
        for each in made:
            top_up(each, 100)
    make_organisation()
    return made


def built(month: Month = OCTOBER) -> set[UUID]:
    return set(Statement.objects.filter(period=month.period).values_list("organisation_id", flat=True))


def ids(labs: list[Organisation]) -> set[UUID]:
    return {each.pk for each in labs}


def test_everybody_with_money_gets_one(labs: list[Organisation]) -> None:
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at) == 5
    assert built() == ids(labs)


def test_once_more_builds_nothing(labs: list[Organisation]) -> None:
    close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at)
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at + MINUTE) == 0


def test_first_drafts_are_built_once_more_from_the_day_after(labs: list[Organisation]) -> None:
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.end) == 5
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.end + 60 * MINUTE) == 0
    assert not Statement.objects.filter(complete=True).exists()
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at) == 5
    assert Statement.objects.filter(complete=True).count() == 5


def test_a_balance_is_carried_into_a_month_without_movements(labs: list[Organisation]) -> None:
    close_month(PLATFORM, month=NOVEMBER, now=NOVEMBER.complete_at)
    assert set(Statement.objects.values_list("opening_fen", "closing_fen")) == {(100, 100)}


def test_a_month_before_there_was_anything_has_none(labs: list[Organisation]) -> None:
    former = OCTOBER.former()
    assert close_month(PLATFORM, month=former, now=former.complete_at) == 0


class Killed(BaseException):
    """As a process that ends: nothing catches it."""


def test_killed_in_the_middle_it_goes_on_where_it_stopped(labs: list[Organisation]) -> None:
    """Whatever number of organisations was done, the next run does the rest and only the rest."""
    for killed_at in range(1, 5):
        calls: list[UUID] = []

        def dying(actor: Actor, *, organisation_id: UUID, calls: list[UUID] = calls, **given: object) -> Statement:
            if calls:
                raise Killed
            calls.append(organisation_id)
            return statements.build(actor, organisation_id=organisation_id, **given)  # type: ignore[arg-type]

        with patch.object(statements_closing, "build", dying), pytest.raises(Killed):
            close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at)
        assert len(built()) == killed_at
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at) == 1
    assert built() == ids(labs)


def test_one_that_fails_does_not_keep_the_others_waiting(labs: list[Organisation]) -> None:
    bad = sorted(ids(labs))[2]

    def failing(actor: Actor, *, organisation_id: UUID, **given: object) -> Statement:
        if organisation_id == bad:
            raise Conflict("the books differ")
        return statements.build(actor, organisation_id=organisation_id, **given)  # type: ignore[arg-type]

    with patch.object(statements_closing, "build", failing), pytest.raises(ExceptionGroup):
        close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at)
    assert built() == ids(labs) - {bad}


def test_reviewed_ones_are_left_alone(labs: list[Organisation]) -> None:
    build(labs[0], complete=True)
    made = Statement.objects.get()
    statements.review(PLATFORM, statement_id=made.pk)
    assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at) == 4


def test_the_sweep_looks_back_over_months_that_were_missed(labs: list[Organisation]) -> None:
    assert close_due(PLATFORM, now=NOVEMBER.complete_at) == 10
    assert close_due(PLATFORM, now=NOVEMBER.complete_at) == 0
    assert (built(OCTOBER), built(NOVEMBER)) == (ids(labs), ids(labs))


def test_organisations_are_read_a_page_at_a_time(labs: list[Organisation]) -> None:
    with patch.object(statements_closing, "_PAGE", 2):
        assert close_month(PLATFORM, month=OCTOBER, now=OCTOBER.complete_at) == 5
    assert built() == ids(labs)


def test_an_organisation_costs_a_fixed_number_of_queries(labs: list[Organisation]) -> None:
    with CaptureQueriesContext(connection) as few:
        build(labs[0])
    for _ in range(20):
        with posted_at(MIDDLE):
            top_up(labs[1], 5)
    with CaptureQueriesContext(connection) as many:
        build(labs[1])
    assert len(many) == len(few)


def test_drafts_can_be_built_of_a_running_month(labs: list[Organisation]) -> None:
    assert build_now(PLATFORM, month=OCTOBER) == (5, False)
    assert build_now(PLATFORM, month=OCTOBER) == (0, False)  # all of them were built within the last minute
    Statement.objects.update(built_at=MIDDLE)
    assert build_now(PLATFORM, month=OCTOBER, seconds=-1) == (0, True)


def test_many_at_once_says_what_was_refused(labs: list[Organisation]) -> None:
    good, bad = build(labs[0]), build(labs[1], complete=False)
    done = apply_to_all([good.pk, bad.pk], lambda pk: statements.review(PLATFORM, statement_id=pk))
    assert (done.count, [pk for pk, _error in done.refused]) == (1, [bad.pk])
    assert Statement.objects.get(pk=good.pk).state == StatementState.REVIEWED
