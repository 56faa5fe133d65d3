"""Discounts: in force for what starts in their time, frozen with it, never changed afterwards."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.billing import selectors, services
from apps.billing.arithmetic import exact_fen
from apps.billing.models import Charge, Discount, MeterSession
from apps.billing.prices.discounts.selectors import discount_at
from apps.billing.prices.discounts.services import end_discount, set_discount
from apps.billing.prices.own import own_prices
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid
from apps.tenants.models import Organisation
from tests.billing.builders import NOON, PLATFORM, Run, balance, make_organisation, make_package, price_of, top_up

LATER = NOON + timedelta(days=400)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def past(lab: Organisation, off: str, *, begins: datetime, ends: datetime | None = None, number: int = 1) -> Discount:
    made: Discount = Discount.objects.create(
        organisation=lab, number=number, off=Decimal(off), effective_from=begins, effective_to=ends, made_by="tests"
    )
    return made


def test_a_charge_has_the_discount_taken_off(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 10_000)
    version = past(lab, "0.15", begins=NOON - DAY)
    run = Run(alice, price_of(make_package(780)), replicas=2).open().close(HOUR)
    services.rate_due(PLATFORM, until=LATER)
    charge = Charge.objects.get()
    assert (charge.rate, charge.discount_off, charge.exact_fen) == (Decimal(780), Decimal("0.15"), Decimal(1_326))
    assert balance(lab) == 10_000 - 1_326
    session = MeterSession.objects.get(pk=run.session_id)
    assert (session.discount_id, session.discount_off) == (version.pk, Decimal("0.15"))


def test_what_runs_keeps_the_discount_that_it_was_opened_with(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 10_000)
    past(lab, "0.5", begins=NOON - DAY, ends=NOON + HOUR)
    past(lab, "0.1", begins=NOON + HOUR, number=2)
    price = price_of(make_package(1_000))
    Run(alice, price).open().close(2 * HOUR)
    Run(alice, price, opened=NOON + HOUR).open().close(HOUR)
    Run(alice, price, opened=NOON - 2 * DAY).open().close(HOUR)
    services.rate_due(PLATFORM, until=LATER)
    assert 10_000 - balance(lab) == 1_000 + 900 + 1_000
    assert selectors.unbalanced_runs() == []


def test_a_quote_and_a_start_take_it_into_account(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 600)
    package = make_package(780)
    assert not selectors.quote(alice, package_id=package.pk).can_start
    set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.25"))
    quote = selectors.quote(alice, package_id=package.pk)
    assert (quote.can_start, quote.hold_fen, quote.rate_fen_per_hour) == (True, 585, Decimal(585))
    assert (quote.list_rate_fen_per_hour, quote.discount_off) == (Decimal(780), Decimal("0.25"))
    assert Run(alice, price_of(package)).hold().amount_fen == 585


def test_versions_follow_each_other_and_are_logged(lab: Organisation) -> None:
    first = set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"), note="Contract 7")
    second = set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.2"))
    first.refresh_from_db()
    assert (second.number, first.effective_to) == (2, second.effective_from)
    assert own_prices(lab.pk, db_now()).off == Decimal("0.2")
    assert own_prices(make_organisation().pk, db_now()).off == 0
    entry = Entry.objects.filter(action="billing.discount.set").order_by("-pk").first()
    assert entry is not None
    assert (entry.before["off"], entry.after["off"]) == ("0.1000", "0.2")


def test_a_second_press_changes_nothing(lab: Organisation) -> None:
    first = set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"), note="x")
    assert set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"), note="x").pk == first.pk
    assert Discount.objects.count() == 1


def test_a_planned_one_is_not_overtaken(lab: Organisation) -> None:
    begins = db_now() + DAY
    planned = set_discount(
        PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"), effective_from=begins, effective_to=begins + DAY
    )
    with pytest.raises(Conflict):
        set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.2"))
    assert discount_at(lab.pk, db_now()) is None
    assert discount_at(lab.pk, begins) == planned
    assert discount_at(lab.pk, begins + DAY) is None
    ended = end_discount(PLATFORM, discount_id=planned.pk)
    assert ended.effective_to == begins
    set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.2"), effective_from=begins)


def test_ending_it_now_and_again(lab: Organisation) -> None:
    discount = set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"))
    ended = end_discount(PLATFORM, discount_id=discount.pk)
    assert own_prices(lab.pk, db_now()).off == 0
    assert end_discount(PLATFORM, discount_id=discount.pk).effective_to == ended.effective_to
    assert Entry.objects.filter(action="billing.discount.end").count() == 1


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"off": Decimal(0)}, "off"),
        ({"off": Decimal("1.0001")}, "off"),
        ({"off": Decimal("0.12345")}, "off"),
        ({"off": Decimal("NaN")}, "off"),
        ({"effective_from": NOON - DAY}, "effective_from"),
        ({"effective_to": NOON - DAY}, "effective_to"),
        ({"note": "x" * 301}, "note"),
    ],
)
def test_wrong_terms_are_refused(lab: Organisation, terms: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        set_discount(PLATFORM, organisation_id=lab.pk, **{"off": Decimal("0.1"), **terms})  # type: ignore[arg-type]
    assert field in refused.value.fields
    assert not Discount.objects.exists()


def test_nobody_else_sets_or_rewrites_one(lab: Organisation, alice: Actor) -> None:
    discount = set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"))
    with pytest.raises(Denied):
        set_discount(alice, organisation_id=lab.pk, off=Decimal("0.9"))
    with pytest.raises(Denied):
        end_discount(alice, discount_id=discount.pk)
    for sql in (
        "UPDATE billing_discount SET off = 0.9",
        "UPDATE billing_discount SET effective_to = now() - interval '1 day'",
        "DELETE FROM billing_discount",
    ):
        with (
            pytest.raises(DatabaseError, match=r"permission denied|not allowed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(sql)


RATES = st.integers(0, 10**14).map(lambda units: Decimal(units).scaleb(-10))
OFFS = st.integers(0, 10_000).map(lambda basis_points: Decimal(basis_points).scaleb(-4))
LENGTHS = st.timedeltas(timedelta(0), timedelta(days=40))


@given(RATES, OFFS, st.integers(1, 64), LENGTHS, LENGTHS)
def test_a_cut_changes_no_discounted_price(
    rate: Decimal, off: Decimal, replicas: int, first: timedelta, second: timedelta
) -> None:
    whole = exact_fen(rate, replicas, first + second, off)
    head = exact_fen(rate, replicas, first, off)
    assert head + (whole - head) == whole
    true = rate * (1 - off) * replicas * Decimal((first + second) // timedelta(microseconds=1)) / 3_600_000_000
    assert abs(whole - true) <= Decimal("1e-10") + abs(true) * Decimal("1e-20")
    assert exact_fen(rate, replicas, first, Decimal(0)) == exact_fen(rate, replicas, first)
    assert exact_fen(rate, replicas, first, Decimal(1)) == 0
