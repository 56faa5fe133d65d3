"""Requests and invoices for the tests, made by the services."""

from typing import Any
from uuid import uuid4

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.days import billing_day
from apps.billing.invoice_choices import InvoiceKind, TitleKind
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import selectors as reads
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.issuing import Issue
from apps.billing.invoices.requesting import InvoiceRequest
from apps.billing.invoices.titles import TitleSpec
from apps.billing.ledger.services import Posting, organisation_account, platform_account, post
from apps.billing.models import Invoice
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Organisation, User
from tests.builders import World, actor_of, platform, staff_actor

PAGE, API = "/billing/invoices/", "/api/v1/invoices/"
CODE = "91350100M000100Y43"  # the example of GB 32100-2015
COMPANY = TitleSpec(TitleKind.COMPANY, "Example Ltd", CODE)
FULL = TitleSpec(TitleKind.COMPANY, "Example Ltd", CODE, "1 Road", "010-1", "Bank", "6222")
PDF = b"%PDF-1.7 invoice"
NUMBER = "25312000000012345678"


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


def room(organisation: Organisation) -> reads.Headroom:
    with acting(platform()):
        return reads.headroom_of(organisation.pk)


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
