"""kill -9 at every point of what is done with invoices: asked for once, issued with its file or not at all."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from apps.billing.days import billing_day
from apps.billing.invoice_choices import CLAIMING, INVOICED_STATES, InvoiceKind, InvoiceState
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.issuing import Issue
from apps.billing.invoices.requesting import InvoiceRequest
from apps.billing.models import Invoice, InvoiceFile, InvoiceTitle
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from tests.billing.builders import make_staff, top_up
from tests.billing.invoices_kit import COMPANY, FULL, PDF, room
from tests.billing.killing_kit import World, again, kill_everywhere, logged

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]


def ask(world: World) -> Invoice:
    with acting(world.actor):
        title = invoice_titles.add_title(world.actor, spec=COMPANY)
        wanted = InvoiceRequest(title.pk, InvoiceKind.ORDINARY, 600, "one")
        return invoices.request_invoice(world.actor, wanted=wanted)


def the_invoice(world: World) -> Invoice:
    return Invoice.objects.get(organisation=world.lab)


def no_more_is_asked_for_than_was_paid(world: World) -> None:
    claimed = Invoice.objects.filter(organisation=world.lab, state__in=CLAIMING).values_list("amount_fen", flat=True)
    assert room(world.lab).claimed_fen == sum(claimed) <= 1000


def test_a_request_sent_again_after_any_death_is_one() -> None:
    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 1000)
        return lambda: ask(world)

    def check(world: World) -> None:
        made = the_invoice(world)
        assert (made.state, made.amount_fen, made.title) == (InvoiceState.REQUESTED, 600, COMPANY.title)
        assert logged("invoice", made.pk) == ["billing.invoice.requested"]
        assert logged("invoice_title", InvoiceTitle.objects.get(organisation=world.lab).pk) == [
            "billing.invoice_title.added"
        ]
        assert room(world.lab).available_fen == 400

    assert len(kill_everywhere(prepare, ask, check, at_once=no_more_is_asked_for_than_was_paid)) >= 4


def test_an_invoice_is_approved_issued_and_voided_once_and_never_without_its_file() -> None:
    staff = make_staff()
    numbers: dict[World, str] = {}

    def decide(world: World) -> None:
        pk, number = the_invoice(world).pk, numbers[world]
        given = Issue(number, billing_day(db_now()), [("fapiao.pdf", PDF)])
        again(
            lambda: invoicing.approve(staff, invoice_id=pk),
            lambda: invoicing.issue(staff, invoice_id=pk, given=given),
            lambda: invoicing.void(staff, invoice_id=pk, reason="wrong title", red_number=number[::-1]),
        )

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 1000)
        ask(world)
        numbers[world] = f"2531{uuid4().int % 10**16:016d}"
        return lambda: decide(world)

    def at_once(world: World) -> None:
        made = the_invoice(world)
        files = InvoiceFile.objects.filter(invoice=made).count()
        assert files == (1 if made.state in INVOICED_STATES else 0)
        no_more_is_asked_for_than_was_paid(world)

    def check(world: World) -> None:
        made = the_invoice(world)
        assert (made.state, made.number) == (InvoiceState.VOIDED, numbers[world])
        steps = ["requested", "approved", "issued", "voided"]
        assert logged("invoice", made.pk) == [f"billing.invoice.{step}" for step in steps]
        told = Notice.objects.filter(organisation=world.lab, kind__startswith="invoice.").order_by("pk")
        assert list(told.values_list("kind", flat=True)) == [f"invoice.{step}" for step in steps[1:]]
        assert InvoiceFile.objects.filter(invoice=made).count() == 1
        assert room(world.lab).available_fen == 1000

    names = kill_everywhere(prepare, decide, check, at_once=at_once)
    for step in ("approve", "issue", "void"):
        assert f"after commit in apps.billing.invoices.issuing.{step}" in names


@pytest.mark.parametrize("what", ["withdraw", "deny"])
def test_what_is_taken_back_or_refused_is_so_once(what: str) -> None:
    staff = make_staff()

    def end(world: World) -> None:
        pk = the_invoice(world).pk
        if what == "deny":
            again(lambda: invoicing.deny(staff, invoice_id=pk, answer="wrong title"))
            return
        with acting(world.actor):
            again(lambda: invoices.withdraw_invoice(world.actor, invoice_id=pk))

    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 1000)
        ask(world)
        return lambda: end(world)

    def check(world: World) -> None:
        made, state = the_invoice(world), {"withdraw": "withdrawn", "deny": "denied"}[what]
        assert made.state == state
        assert logged("invoice", made.pk) == ["billing.invoice.requested", f"billing.invoice.{state}"]
        assert room(world.lab).available_fen == 1000

    assert len(kill_everywhere(prepare, end, check)) >= 2


def test_a_title_that_is_changed_and_put_away_is_so_once() -> None:
    def title(world: World) -> InvoiceTitle:
        return InvoiceTitle.objects.get(organisation=world.lab)

    def tidy(world: World) -> None:
        with acting(world.actor):
            again(lambda: invoice_titles.change_title(world.actor, title_id=title(world).pk, spec=FULL))

    def prepare(world: World) -> Callable[[], Any]:
        with acting(world.actor):
            invoice_titles.add_title(world.actor, spec=COMPANY)
        return lambda: tidy(world)

    def check(world: World) -> None:
        assert title(world).bank_account == FULL.bank_account
        assert logged("invoice_title", title(world).pk) == [
            f"billing.invoice_title.{step}" for step in ("added", "changed")
        ]

    assert len(kill_everywhere(prepare, tidy, check)) >= 2
