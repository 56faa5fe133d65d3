"""Invoices from the request to the file, step by step: what each needs, who may take it, and what is told."""

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.audit.models import Entry
from apps.billing.days import billing_day
from apps.billing.invoice_choices import InvoiceKind, InvoiceState, TitleKind
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import selectors as reads
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.files import media_type_of
from apps.billing.invoices.issuing import Issue
from apps.billing.invoices.titles import TitleSpec
from apps.billing.models import Invoice, InvoiceTitle
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import User
from tests.billing.invoices_kit import API, CODE, COMPANY, FULL, NUMBER, PAGE, PDF, asked, issued
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_staff,
    make_world,
    platform,
    signed_in,
    staff_actor,
)

pytestmark = pytest.mark.django_db


def test_an_invoice_goes_from_the_request_to_its_file(world: World, clerk: User) -> None:
    client, staff = signed_in(world.alice), signed_in(clerk)
    client.post(
        f"{PAGE}titles/new/", {"title_kind": "company", "title": "Example  Ltd", "tax_number": "9135 0100 m000 100y 43"}
    )
    key = client.get(f"{PAGE}new/").context["form"]["key"].value()
    with acting(platform()):
        title = InvoiceTitle.objects.get(organisation=world.organisation)
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
    given |= {"tax_percent": "6", "content": "*信息技术服务*算力服务费"}
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
