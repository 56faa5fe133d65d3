"""Invoices: how much may be asked for, from state to state, who may do what, and the file at the end."""

import io
import zipfile
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.invoice_choices import InvoiceKind, InvoiceState, TitleKind
from apps.billing.models import Invoice
from apps.billing.selectors import invoices as reads
from apps.billing.selectors.spending import billing_day
from apps.billing.services import invoice_titles, invoices, invoicing
from apps.billing.services.invoice_files import media_type_of
from apps.billing.services.invoice_titles import TitleSpec
from apps.billing.services.invoices import InvoiceRequest
from apps.billing.services.invoicing import Issue
from apps.billing.services.ledger import Posting, organisation_account, platform_account, post
from apps.billing.tax_numbers import ALPHABET, check_character, is_credit_code, tidy
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, User
from tests.billing.test_concurrency import together
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    staff_actor,
)

pytestmark = pytest.mark.django_db
PAGE, API = "/billing/invoices/", "/api/v1/invoices/"
CODE = "91350100M000100Y43"  # the example of GB 32100-2015
COMPANY = TitleSpec(TitleKind.COMPANY, "Example Ltd", CODE)
FULL = TitleSpec(TitleKind.COMPANY, "Example Ltd", CODE, "1 Road", "010-1", "Bank", "6222")
PDF = b"%PDF-1.7 invoice"
NUMBER = "25312000000012345678"


@pytest.fixture
def world() -> World:
    """Alice is the admin of an organisation that has paid ¥1,000."""
    with acting(platform()):
        return make_world(role=Role.ADMIN)


@pytest.fixture
def clerk(world: World) -> User:
    with acting(platform()):
        return make_staff(PlatformRole.FINANCE)


def asked(world: World, amount_fen: int = 40_000, key: str = "", spec: TitleSpec = COMPANY, **more: Any) -> Invoice:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        title = invoice_titles.add_title(actor, spec=spec)
        kind = more.get("kind", InvoiceKind.ORDINARY)
        wanted = InvoiceRequest(title.pk, kind, amount_fen, key or uuid4().hex)
        return invoices.request_invoice(actor, wanted=wanted)


def issued(world: World, clerk: User, amount_fen: int = 40_000, number: str = NUMBER) -> Invoice:
    found = asked(world, amount_fen)
    with acting(staff_actor(clerk)) as actor:
        invoicing.approve(actor, invoice_id=found.pk)
        given = Issue(number, billing_day(db_now()), [("fapiao.pdf", PDF)])
        return invoicing.issue(actor, invoice_id=found.pk, given=given)


def room(organisation: Organisation) -> reads.Room:
    with acting(platform()):
        return reads.room_of(organisation.pk)


def give_back(organisation: Organisation, fen: int) -> None:
    with acting(platform()) as actor:
        posting = Posting(
            organisation_account(organisation.pk, AccountKind.CASH),
            platform_account(AccountKind.OFFLINE_CLEARING),
            fen,
            TransferKind.REFUND,
            f"refund:test:{uuid4()}",
        )
        post(actor, posting=posting)


# Tax numbers


@pytest.mark.parametrize("code", [CODE, "91330100799655058B", "9144030071526726XG", "914403001922038216"])
def test_real_credit_codes_are_right(code: str) -> None:
    assert is_credit_code(code)
    assert is_credit_code(tidy(f" {code[:2].lower()}-{code[2:8]} {code[8:].lower()} "))


@given(place=st.integers(0, 17), letter=st.sampled_from(ALPHABET))
def test_one_wrong_character_is_always_noticed(place: int, letter: str) -> None:
    wrong = CODE[:place] + letter + CODE[place + 1 :]
    assert is_credit_code(wrong) == (wrong == CODE)


@given(body=st.text(ALPHABET, min_size=9, max_size=9), area=st.from_regex(r"\A[0-9]{6}\Z"))
def test_the_check_character_makes_a_code_right(body: str, area: str) -> None:
    first = f"91{area}{body}"
    assert is_credit_code(first + check_character(first))


@pytest.mark.parametrize("text", ["", "91350100M000100Y4", "91350100M000100Y433", "9135010OM000100Y43", "一" * 18])
def test_what_is_no_code_is_refused(text: str) -> None:
    assert not is_credit_code(text)


# How much


def test_what_was_paid_may_be_invoiced_and_charges_do_not_lessen_it(world: World) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, 7200)
    assert room(world.organisation) == reads.Room(100_000, 0, 0)
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
    assert room(world.organisation) == reads.Room(100_000, 0, 0)


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

    answers = together(*(lambda key=key: one(key) for key in "abcdef"))  # type: ignore[misc]
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


# From state to state


def test_an_invoice_goes_from_the_request_to_its_file(world: World, clerk: User) -> None:
    client, staff = signed_in(world.alice), signed_in(clerk)
    client.post(
        f"{PAGE}titles/new/", {"title_kind": "company", "title": "Example  Ltd", "tax_number": "9135 0100 m000 100y 43"}
    )
    key = client.get(f"{PAGE}new/").context["form"]["key"].value()
    with acting(platform()):
        title = reads.InvoiceTitle.objects.get(organisation=world.organisation)
    assert (title.title, title.tax_number) == ("Example Ltd", CODE)
    form = {"key": key, "title": str(title.pk), "kind": "ordinary", "amount": "400", "note": "for October"}
    for _press in range(2):
        assert client.post(f"{PAGE}new/", form).status_code == 302
    with acting(platform()):
        found = Invoice.objects.get(organisation=world.organisation)
        assert Notice.objects.filter(user=clerk, kind="invoice.requested").count() == 1
    url = f"/console/invoices/{found.pk}/"
    assert staff.post(f"{url}approve/").status_code == 302
    files = [SimpleUploadedFile("invoice.pdf", PDF), SimpleUploadedFile("invoice.xml", b"<?xml version='1.0'?><a/>")]
    given: dict[str, Any] = {"number": NUMBER, "issued_on": billing_day(db_now()).isoformat(), "files": files}
    assert staff.post(f"{url}issue/", given).status_code == 302
    page = client.get(f"{PAGE}{found.pk}/")
    assert NUMBER in page.content.decode()
    first = page.context["files"][0]
    answer = client.get(f"{PAGE}files/{first.pk}/")
    assert (answer.content, answer["Content-Type"]) == (PDF, "application/pdf")
    assert answer["Content-Disposition"].startswith("attachment")
    with acting(platform()):
        kinds = Notice.objects.filter(user=world.alice, kind__startswith="invoice.").order_by("pk")
        assert list(kinds.values_list("kind", flat=True)) == ["invoice.approved", "invoice.issued"]
        trail = Entry.objects.filter(target_type="invoice", target_id=str(found.pk)).order_by("pk")
        assert [(each.action, each.before.get("state"), each.after.get("state")) for each in trail] == [
            ("billing.invoice.requested", None, None),
            ("billing.invoice.approved", "requested", "approved"),
            ("billing.invoice.issued", "approved", "issued"),
        ]


def test_no_step_can_be_made_twice_or_out_of_turn(world: World, clerk: User) -> None:
    found = issued(world, clerk)
    waiting = asked(world, 100)
    with acting(staff_actor(clerk)) as staff:
        for act in (
            invoicing.approve,
            lambda actor, invoice_id: invoicing.deny(actor, invoice_id=invoice_id, answer="x"),
        ):
            with pytest.raises(Conflict):
                act(staff, invoice_id=found.pk)
        with pytest.raises(Conflict):
            invoicing.void(staff, invoice_id=waiting.pk, reason="x")
        invoicing.void(staff, invoice_id=found.pk, reason="x")
        with pytest.raises(Conflict):
            invoicing.void(staff, invoice_id=found.pk, reason="x")
    actor = actor_of(world.alice, world.organisation)
    with acting(actor), pytest.raises(Conflict):
        invoices.withdraw_invoice(actor, invoice_id=found.pk)


def test_a_number_is_given_once_and_the_day_has_come(world: World, clerk: User) -> None:
    issued(world, clerk, 100)
    found = asked(world, 200)
    today = billing_day(db_now())
    wrong = {
        "number": [Issue(NUMBER, today, [("a.pdf", PDF)]), Issue("12", today, [("a.pdf", PDF)])],
        "issued_on": [Issue(NUMBER[::-1], today + timedelta(days=1), [("a.pdf", PDF)])],
        "files": [Issue(NUMBER[::-1], today, []), Issue(NUMBER[::-1], today, [("a.pdf", b"MZ")])],
    }
    with acting(staff_actor(clerk)) as staff:
        invoicing.approve(staff, invoice_id=found.pk)
        for field, issues in wrong.items():
            for given_issue in issues:
                with pytest.raises(Invalid) as refused:
                    invoicing.issue(staff, invoice_id=found.pk, given=given_issue)
                assert field in refused.value.fields
        assert reads.invoice(staff, found.pk).state == InvoiceState.APPROVED
        assert not reads.files(staff, found).exists()


def test_a_special_invoice_needs_all_of_the_companys_details(world: World) -> None:
    with pytest.raises(Invalid):
        asked(world, 100, kind=InvoiceKind.SPECIAL)
    with pytest.raises(Invalid):
        asked(world, 100, spec=TitleSpec(TitleKind.PERSON, "Alice"), kind=InvoiceKind.SPECIAL)
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        title = invoice_titles.add_title(actor, spec=COMPANY)
        invoice_titles.change_title(actor, title_id=title.pk, spec=FULL)
    assert asked(world, 100, spec=FULL, kind=InvoiceKind.SPECIAL).bank_account == "6222"


def test_a_title_that_changes_changes_no_invoice(world: World) -> None:
    found = asked(world)
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        title = reads.titles(actor).get()
        invoice_titles.change_title(actor, title_id=title.pk, spec=TitleSpec(TitleKind.PERSON, "Alice"))
        assert reads.invoice(actor, found.pk).title == "Example Ltd"
        invoice_titles.remove_title(actor, title_id=title.pk)
        with pytest.raises(NotFound):
            reads.title(actor, title.pk)


def test_a_wrong_code_is_said_beside_the_field(world: World) -> None:
    answer = signed_in(world.alice).post(
        f"{PAGE}titles/new/", {"title_kind": "company", "title": "Example Ltd", "tax_number": CODE[:-1] + "0"}
    )
    assert answer.status_code == 422
    assert "tax_number" in answer.context["form"].errors


def test_only_invoices_are_taken_as_files() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as ofd:
        ofd.writestr("OFD.xml", "<ofd/>")
    assert media_type_of(archive.getvalue()) == "application/ofd"
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as plain:
        plain.writestr("macro.bin", "x")
    for content in (other.getvalue(), b"PK\x03\x04 broken", b"<html>", b""):
        with pytest.raises(Invalid):
            media_type_of(content)


# Who


def test_strangers_and_members_see_nothing_of_it(world: World, clerk: User) -> None:
    found = issued(world, clerk)
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
        charlie = make_world(role=Role.ADMIN).alice
        file_id = reads.files(platform(), found).get().pk
    for path in (f"{PAGE}{found.pk}/", f"{PAGE}files/{file_id}/", f"{API}{found.pk}/", f"{API}files/{file_id}/"):
        assert signed_in(charlie).get(path).status_code == 404
        assert signed_in(bob).get(path).status_code == 403
    assert signed_in(world.alice).get(f"/console/invoices/{found.pk}/").status_code in (403, 404)


def test_only_finance_staff_decide(world: World) -> None:
    found = asked(world)
    with acting(platform()):
        ops = make_staff(PlatformRole.OPS)
    actor: Actor = staff_actor(ops)
    with acting(actor), pytest.raises(Denied):
        invoicing.approve(actor, invoice_id=found.pk)
    assert signed_in(ops).get("/console/invoices/").status_code == 403


def test_the_same_by_the_interface(world: World, clerk: User) -> None:
    client, staff = signed_in(world.alice), signed_in(clerk)
    made = client.post(
        "/api/v1/invoice-titles/",
        {"title_kind": "company", "title": "Example Ltd", "tax_number": CODE},
        "application/json",
    )
    assert made.status_code == 201
    wanted = {"title": made.json()["id"], "amount_fen": 40_000}
    headers = {"Idempotency-Key": "one"}
    first = client.post(API, wanted, "application/json", headers=headers).json()
    assert client.post(API, wanted, "application/json", headers=headers).json() == first
    assert client.get(f"{API}room/").json()["available_fen"] == 60_000
    assert client.post(API, {**wanted, "amount_fen": 60_001}, "application/json").status_code == 400
    url = f"/api/v1/console/invoices/{first['id']}/"
    assert staff.post(f"{url}approve/").json()["state"] == "approved"
    given = {"number": NUMBER, "issued_on": "2026-01-05", "files": SimpleUploadedFile("i.pdf", PDF)}
    assert staff.post(f"{url}issue/", given).json()["number"] == NUMBER
    detail = client.get(f"{API}{first['id']}/").json()
    assert client.get(f"{API}files/{detail['files'][0]['id']}/").content == PDF
    assert staff.post(f"{url}void/", {"reason": "wrong"}, "application/json").json()["state"] == "voided"
    assert staff.post(f"{url}deny/", {"answer": "late"}, "application/json").status_code == 409
    assert [each["state"] for each in staff.get("/api/v1/console/invoices/?state=voided").json()["results"]] == [
        "voided"
    ]
