"""Invoices: how much may be asked for, also by many at once, and what happens when money is given back."""

from uuid import uuid4

import pytest

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.invoice_choices import InvoiceKind
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import selectors as reads
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.requesting import InvoiceRequest
from apps.billing.ledger.services import Posting, organisation_account, platform_account, post
from apps.billing.models import Invoice
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import User
from tests.billing.invoices_kit import COMPANY, PAGE, asked, give_back, issued, room
from tests.billing.test_concurrency import together
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_organisation,
    platform,
    signed_in,
    staff_actor,
)

pytestmark = pytest.mark.django_db


def test_what_was_paid_may_be_invoiced_and_charges_do_not_lessen_it(world: World) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, 7200)
    assert room(world.organisation) == reads.Headroom(100_000, 0, 0)
    asked(world, 60_000)
    assert room(world.organisation).available_fen == 40_000
    with pytest.raises(Invalid) as refused:
        asked(world, 40_001)
    assert "amount" in refused.value.fields
    asked(world, 40_000)
    assert room(world.organisation).available_fen == 0


def test_what_was_given_back_may_not_be_invoiced(world: World) -> None:
    give_back(world.organisation, 30_000)
    assert room(world.organisation).available_fen == 70_000


def test_vouchers_are_never_invoiced(world: World) -> None:
    with acting(platform()) as actor:
        posting = Posting(
            platform_account(AccountKind.PROMOTION),
            organisation_account(world.organisation.pk, AccountKind.VOUCHER),
            5_000,
            TransferKind.VOUCHER_ISSUE,
            f"voucher:test:{uuid4()}",
        )
        post(actor, posting=posting)
    assert room(world.organisation).paid_fen == 100_000


def test_denied_withdrawn_and_voided_amounts_are_free_again(world: World, clerk: User) -> None:
    first, second, third = asked(world), asked(world, 1), issued(world, clerk, 500)
    actor = actor_of(world.alice, world.organisation)
    with acting(staff_actor(clerk)) as staff:
        invoicing.deny(staff, invoice_id=first.pk, answer="wrong title")
        invoicing.void(staff, invoice_id=third.pk, reason="wrong amount", red_number="25312000000099999999")
    with acting(actor):
        invoices.withdraw_invoice(actor, invoice_id=second.pk)
    assert room(world.organisation) == reads.Headroom(100_000, 0, 0)


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_never_exceed_what_was_paid() -> None:
    with acting(platform()):
        organisation = make_organisation(balance_fen=100_000)
        alice = make_member(organisation, role=Role.ADMIN)
        actor = actor_of(alice, organisation)
        title = invoice_titles.add_title(actor, spec=COMPANY)

    def one(key: str) -> Invoice:
        wanted = InvoiceRequest(title.pk, InvoiceKind.ORDINARY, 30_000, key)
        return invoices.request_invoice(actor, wanted=wanted)

    answers = together(*(lambda key=key: one(key) for key in "abcdef"))
    assert sum(isinstance(answer, Invoice) for answer in answers) == 3
    assert sum(isinstance(answer, Invalid) for answer in answers) == 3
    assert room(organisation).claimed_fen == 90_000


@pytest.mark.django_db(transaction=True)
def test_one_request_pressed_at_once_is_one() -> None:
    with acting(platform()):
        organisation = make_organisation(balance_fen=100_000)
        actor = actor_of(make_member(organisation, role=Role.ADMIN), organisation)
        title = invoice_titles.add_title(actor, spec=COMPANY)
    wanted = InvoiceRequest(title.pk, InvoiceKind.ORDINARY, 30_000, "same")
    answers = together(*[lambda: invoices.request_invoice(actor, wanted=wanted)] * 4)
    assert len({answer.pk for answer in answers}) == 1
    assert room(organisation).claimed_fen == 30_000


def test_sending_a_request_twice_asks_once(world: World) -> None:
    assert asked(world, key="k").pk == asked(world, key="k").pk
    with pytest.raises(Conflict):
        asked(world, 1, key="k")


def test_finance_is_warned_when_more_is_invoiced_than_was_paid(world: World, clerk: User) -> None:
    found = issued(world, clerk, 90_000)
    give_back(world.organisation, 30_000)
    assert room(world.organisation).excess_fen == 20_000
    with acting(staff_actor(clerk)) as staff:
        assert [(each.organisation_id, each.excess_fen) for each in reads.excesses(staff)] == [
            (world.organisation.pk, 20_000)
        ]
    client = signed_in(clerk)
    assert "¥200.00 more is invoiced than was paid" in client.get("/console/invoices/").content.decode()
    assert "¥200.00 too much" in client.get(f"/console/invoices/{found.pk}/").content.decode()
    assert "More is invoiced than was paid" in signed_in(world.alice).get(PAGE).content.decode()
