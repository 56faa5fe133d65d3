"""Prepaid time at an organisation's own price: the discount of the moment of paying, frozen in each payment."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from apps.audit.models import Entry
from apps.billing import selectors
from apps.billing.choices import AccountKind, Term
from apps.billing.models import Discount, Package, PrepaidPurchase, Transfer
from apps.billing.prepaid.changes import change, give_back
from apps.billing.prepaid.earning import recognise_due
from apps.billing.prepaid.selectors import prepaid_drift, prepaid_quote, refundable_fen, rest_fen, term_price
from apps.billing.prepaid.services import OrderSpec, SeenTerms, order, renew
from apps.billing.prepaid.sweep import prepaid_sweep
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_organisation, make_package, top_up
from tests.billing.prepaid import MONTH_END, Clock, buy, offer, offered

DAY = timedelta(days=1)


@pytest.fixture
def package(clock: Clock, lab: Organisation) -> Package:
    return offered(lab, 100)


def discount(lab: Organisation, off: str, clock: Clock) -> Discount:
    """From now on; the former one ends."""
    Discount.objects.filter(organisation=lab, effective_to__isnull=True).update(effective_to=clock.now)
    number = Discount.objects.filter(organisation=lab).count() + 1
    made: Discount = Discount.objects.create(
        organisation=lab, number=number, off=Decimal(off), effective_from=clock.now, made_by="tests"
    )
    return made


def test_the_discount_is_taken_off_and_frozen(lab: Organisation, alice: Actor, package: Package, clock: Clock) -> None:
    version = discount(lab, "0.15", clock)
    quote = prepaid_quote(alice, package_id=package.pk, term=Term.MONTH, quantity=2)
    assert (quote.list_fen, quote.discount_off, quote.amount_fen) == (60_000, Decimal("0.15"), 51_000)
    hours = (quote.ends_at - quote.starts_at) / timedelta(hours=1)
    assert quote.by_hour_fen == int(hours * 2 * 85), "compared with what the hours would cost this organisation"
    made = buy(alice, package, quantity=2)
    paid = PrepaidPurchase.objects.get()
    assert (paid.list_fen, paid.discount_id, paid.amount_fen) == (60_000, version.pk, 51_000)
    assert balance(lab) == 49_000
    entry = Entry.objects.get(action="billing.prepaid.order")
    assert (entry.after["list_fen"], entry.after["discount_off"]) == (60_000, "0.1500")
    discount(lab, "0.5", clock)
    paid.refresh_from_db()
    assert (paid.discount_off, paid.amount_fen) == (Decimal("0.15"), 51_000)
    assert refundable_fen(made, clock.now) == 51_000


def test_others_pay_what_is_listed(alice: Actor, package: Package, clock: Clock) -> None:
    discount(make_organisation(), "0.5", clock)
    assert buy(alice, package).purchases.get().amount_fen == 30_000


def test_each_renewal_takes_the_discount_of_its_day(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    discount(lab, "0.1", clock)
    made = buy(alice, package, auto_renew=True)
    clock.on(days=1)
    discount(lab, "0.2", clock)
    renew(alice, order_id=made.pk, after=made.ends_at)
    made.refresh_from_db()
    clock.now = made.ends_at - timedelta(hours=1)
    discount(lab, "0.3", clock)
    assert prepaid_sweep(PLATFORM, now=clock.now) == 1
    assert [each.amount_fen for each in made.purchases.order_by("number")] == [27_000, 24_000, 21_000]
    assert balance(lab) == 100_000 - 72_000


def test_what_goes_back_is_a_part_of_what_was_paid(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    discount(lab, "0.3333", clock)
    made = buy(alice, package)
    paid = made.purchases.get().amount_fen
    assert paid == 20_001
    clock.on(days=14)
    recognise_due(PLATFORM, now=clock.now)
    give_back(alice, order_id=made.pk)
    part = PrepaidPurchase.objects.get()
    assert part.recognised_fen + part.returned_fen == paid
    assert part.returned_fen == paid - -(-paid * 14 // 28)
    assert prepaid_drift() == []
    assert selectors.drift() == []


def test_a_change_is_paid_at_the_discount_of_its_day(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    bigger = make_package(200)
    offer(bigger, fen=60_000)
    made = buy(alice, package)
    clock.on(days=14)
    discount(lab, "0.25", clock)
    price = term_price(bigger.pk, Term.MONTH)
    assert price
    assert rest_fen(made, price, clock.now) == 22_500
    changed = change(alice, order_id=made.pk, package_id=bigger.pk, quantity=1)
    part = changed.purchases.get()
    assert (part.list_fen, part.amount_fen) == (30_000, 22_500)
    assert balance(lab) == 100_000 - 30_000 + 15_000 - 22_500
    assert balance(lab, AccountKind.DEFERRED) == 22_500
    assert prepaid_drift() == []


def test_a_discount_that_ended_meanwhile_is_a_conflict(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    discount(lab, "0.5", clock)
    seen = SeenTerms(off=prepaid_quote(alice, package_id=package.pk, term=Term.MONTH).discount_off)
    clock.on(hours=1)
    discount(lab, "0.1", clock)
    with pytest.raises(Conflict, match="changed"):
        order(alice, wanted=OrderSpec(package.pk, Term.MONTH, "once", seen=seen))
    assert balance(lab) == 100_000


def test_who_pays_nothing_has_nothing_to_prepay(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    discount(lab, "1", clock)
    with pytest.raises(Conflict, match="nothing to pay"):
        buy(alice, package)


def test_rounding_never_makes_it_free(lab: Organisation, alice: Actor, clock: Clock) -> None:
    top_up(lab, 10)
    package = make_package(1)
    offer(package, Term.DAY, 1)
    discount(lab, "0.9999", clock)
    assert buy(alice, package, term=Term.DAY).purchases.get().amount_fen == 1


def test_the_database_holds_the_price_to_list_less_discount(
    lab: Organisation, alice: Actor, package: Package, clock: Clock
) -> None:
    mine, others = discount(lab, "0.15", clock), discount(make_organisation(), "0.15", clock)
    made = buy(alice, package)
    row = PrepaidPurchase.objects.get()
    other = Transfer.objects.exclude(pk=row.transfer_id).earliest("pk")
    fields = {each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields if each.attname != "id"}
    next_one = {**fields, "number": 2, "first_period": 1, "transfer_id": other.pk}
    for wrong, name in (
        ({"amount_fen": 25_499}, "costs_list_less_discount"),
        ({"discount_id": None}, "discount_is_a_version"),
        ({"discount_id": others.pk}, "of_discount"),
    ):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            PrepaidPurchase.objects.create(**{**next_one, **wrong})
    for changed in ({"list_fen": 1}, {"discount_id": None}):
        with pytest.raises((IntegrityError, ProgrammingError), match=r"only moves on|denied"), transaction.atomic():
            PrepaidPurchase.objects.filter(pk=row.pk).update(**changed)
    assert (made.starts_at, mine.off) == (MONTH_END, Decimal("0.15"))
