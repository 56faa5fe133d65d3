"""Tax within an invoice's amount, what it is for, and whom it goes to."""

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.days import billing_day
from apps.billing.invoice_choices import InvoiceKind
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.issuing import Issue
from apps.billing.invoices.requesting import InvoiceRequest
from apps.billing.invoices.tax import RATES, USUAL_CONTENT, split
from apps.billing.models import Invoice
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import User
from tests.billing.invoices_kit import API, COMPANY, NUMBER, PAGE, PDF, asked
from tests.builders import World, actor_of, make_staff, make_world, platform, signed_in, staff_actor


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world(role=Role.FINANCE)


@pytest.fixture
def clerk(world: World) -> User:
    with acting(platform()):
        return make_staff(PlatformRole.FINANCE)


@given(st.integers(1, 10**13), st.one_of(st.sampled_from(RATES), st.decimals(0, 100, places=2)))
def test_net_and_tax_are_the_amount_to_the_fen(amount: int, percent: Decimal) -> None:
    parts = split(amount, percent)
    assert parts.net_fen + parts.tax_fen == amount
    assert parts.tax_fen >= 0
    assert abs(parts.net_fen * (100 + percent) - amount * 100) <= (100 + percent) / 2, "rounded to the nearest fen"


@pytest.mark.parametrize(
    ("amount", "percent", "net", "tax"),
    [(10_600, 6, 10_000, 600), (10_000, 6, 9_434, 566), (11_300, 13, 10_000, 1_300), (1, 13, 1, 0), (500, 0, 500, 0)],
)
def test_the_split_by_hand(amount: int, percent: int, net: int, tax: int) -> None:
    found = split(amount, Decimal(percent))
    assert (found.net_fen, found.tax_fen) == (net, tax)


def test_tax_content_and_receiver_on_pages_and_in_the_api(world: World, clerk: User) -> None:
    owner, staff = signed_in(world.alice), signed_in(clerk)
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        title = invoice_titles.add_title(actor, spec=COMPANY)
    form = {
        "key": "one", "title": str(title.pk), "kind": "ordinary", "amount": "106", "note": "",
        "content": "GPU time", "email": "books@east.example",
    }  # fmt: skip
    assert owner.post(f"{PAGE}new/", form).status_code == 302
    with acting(platform()):
        found = Invoice.objects.get(organisation=world.organisation)
    url = f"/console/invoices/{found.pk}/"
    assert "books@east.example" in staff.get(url).content.decode()
    staff.post(f"{url}approve/")
    page = staff.get(f"{url}issue/").content.decode()
    assert "GPU time" in page
    given_form = {
        "number": NUMBER, "issued_on": billing_day(db_now()).isoformat(), "tax_percent": "6",
        "content": "*信息技术服务*算力服务费", "files": SimpleUploadedFile("i.pdf", PDF),
    }  # fmt: skip
    assert staff.post(f"{url}issue/", given_form).status_code == 302
    shown = owner.get(f"{PAGE}{found.pk}/").content.decode()
    for words in ("¥100.00", "¥6.00", "at 6 %", "*信息技术服务*算力服务费", "壹佰零陆元整"):
        assert words in shown
    (row,) = owner.get(API).json()["results"]
    assert (row["net_fen"], row["tax_fen"], row["tax_percent"]) == (10_000, 600, "6.00")
    assert (row["content"], row["email"]) == ("*信息技术服务*算力服务费", "books@east.example")


def test_what_is_usually_printed_is_offered(world: World, clerk: User) -> None:
    found = asked(world, 100)
    with acting(staff_actor(clerk)) as actor:
        invoicing.approve(actor, invoice_id=found.pk)
    assert USUAL_CONTENT in signed_in(clerk).get(f"/console/invoices/{found.pk}/issue/").content.decode()


def test_what_is_wrong_is_refused_by_field(world: World, clerk: User) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        title = invoice_titles.add_title(actor, spec=COMPANY)
        for field, more in {"email": {"email": "nowhere"}, "content": {"content": "x" * 101}}.items():
            wanted = InvoiceRequest(title.pk, InvoiceKind.ORDINARY, 100, "one", **more)
            with pytest.raises(Invalid) as refused:
                invoices.request_invoice(actor, wanted=wanted)
            assert list(refused.value.fields) == [field]
    found = asked(world, 100)
    with acting(staff_actor(clerk)) as staff:
        invoicing.approve(staff, invoice_id=found.pk)
        for percent in (Decimal("-1"), Decimal("100.01")):
            issue = Issue(NUMBER, billing_day(db_now()), [("a.pdf", PDF)], percent)
            with pytest.raises(Invalid) as refused:
                invoicing.issue(staff, invoice_id=found.pk, given=issue)
            assert list(refused.value.fields) == ["tax_percent"]


def test_the_database_keeps_net_and_tax_together(world: World) -> None:
    found = asked(world, 100)
    with acting(platform()), pytest.raises(IntegrityError), transaction.atomic():
        Invoice.objects.filter(pk=found.pk).update(tax_percent=6, net_fen=90, tax_fen=9)
