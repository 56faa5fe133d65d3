"""Credit and debit notes: on the page, by API, by two people, on wallet, bill and notice."""

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.billing.choices import AccountKind, RequestState, StatementSection, TransferKind
from apps.billing.ledger.services import organisation_account
from apps.billing.models import RechargeRequest, StatementLine, Transfer
from apps.billing.months import Month
from apps.billing.payments import recharge_review
from apps.billing.selectors import drift
from apps.billing.statements import revenue
from apps.billing.statements.services import build
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.words import words
from apps.tenants.choices import PlatformRole, Role
from tests.builders import World, make_member, make_staff, platform, signed_in, staff_actor
from tests.console.kit import page, text_of

API = "/api/v1/console/adjustments/"


@pytest.fixture
def clerk(world: World) -> Client:
    return signed_in(make_staff(PlatformRole.FINANCE, "fang"))


def given(world: World, **changes: str) -> dict[str, str]:
    values = {
        "organisation": world.organisation.name,
        "kind": "credit",
        "amount": "12.50",
        "number": "CN-1",
        "reason": "Outage of 3 November",
    }
    return {**values, **changes}


def balance(world: World, kind: AccountKind = AccountKind.CASH) -> int:
    with acting(platform()):
        return organisation_account(world.organisation.pk, kind).balance_fen


def test_a_credit_note_goes_into_the_wallet_once(world: World, clerk: Client) -> None:
    before = balance(world)
    review = text_of(clerk.post(page("adjustment_new"), given(world)))
    assert "壹拾贰元伍角整" in review
    assert balance(world) == before, "the first step moves nothing"
    for _twice in range(2):
        assert clerk.post(page("adjustment_create"), given(world)).status_code == 302
    assert balance(world) == before + 1250
    assert balance(world, AccountKind.REVENUE) == -1250
    shown = text_of(clerk.get(page("adjustments")))
    assert "CN-1" in shown
    assert "Outage of 3 November" in shown
    with acting(platform()):
        assert drift() == []
        assert Entry.objects.filter(action="billing.adjusted").count() == 1


def test_a_debit_note_stops_at_the_balance(world: World, clerk: Client) -> None:
    before = balance(world)
    clerk.post(page("adjustment_create"), given(world, kind="debit", number="DN-1"))
    assert balance(world) == before - 1250
    refused = clerk.post(page("adjustment_create"), given(world, kind="debit", number="DN-2", amount="9000"))
    assert "does not cover" in text_of(refused)
    assert balance(world) == before - 1250


@pytest.mark.parametrize(
    ("changes", "words_shown"),
    [
        ({"amount": "0"}, "more than zero"),
        ({"amount": "2000000"}, "At most"),
        ({"reason": ""}, "required"),
        ({"number": ""}, "required"),
        ({"kind": "recharge"}, "valid choice"),
        ({"organisation": "nobody"}, "organisation"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_moves(
    world: World, clerk: Client, changes: dict[str, str], words_shown: str
) -> None:
    before = balance(world)
    for step in ("adjustment_new", "adjustment_create"):
        answer = clerk.post(page(step), given(world, **changes))
        assert answer.status_code == 422
        assert words_shown in text_of(answer)
    assert balance(world) == before


def test_the_same_number_with_another_amount_is_refused(world: World, clerk: Client) -> None:
    clerk.post(page("adjustment_create"), given(world))
    before = balance(world)
    for changes in ({"amount": "13"}, {"kind": "debit"}):
        answer = clerk.post(page("adjustment_create"), given(world, **changes))
        assert answer.status_code == 422
        assert "already been used" in text_of(answer)
    assert balance(world) == before


def test_above_the_threshold_two_people_decide(world: World, clerk: Client) -> None:
    before = balance(world)
    for _twice in range(2):
        clerk.post(page("adjustment_create"), given(world, amount="20000"))
    with acting(platform()):
        (asked,) = RechargeRequest.objects.all()
        assert asked.kind == "credit"
    assert balance(world) == before
    waiting = text_of(clerk.get(page("adjustments")))
    assert page("recharge_request", asked.pk) in waiting
    shown = text_of(clerk.get(page("recharge_request", asked.pk)))
    assert "A credit note of ¥20,000.00" in shown
    assert "贰万元整" in shown
    assert "Approve…" not in shown, "not one's own"
    with acting(platform()):
        second = staff_actor(make_staff(PlatformRole.FINANCE, "guo"))
    with acting(second):
        recharge_review.approve(second, request_id=asked.pk)
    assert balance(world) == before + 2_000_000
    listed = text_of(clerk.get(page("adjustments")))
    assert "asked by fang" in listed.lower()
    with acting(platform()):
        asked.refresh_from_db()
        assert asked.state == RequestState.APPROVED
        assert asked.transfer is not None
        assert asked.transfer.kind == TransferKind.ADJUSTMENT
        assert Entry.objects.filter(action="billing.adjustment.approved").count() == 1


def test_it_stands_on_the_statement_the_wallet_and_in_the_notice(world: World, clerk: Client) -> None:
    with acting(platform()):
        treasurer = make_member(world.organisation, "tina", Role.FINANCE)
    clerk.post(page("adjustment_create"), given(world))
    month = Month.at(db_now())
    with acting(platform()):
        made = build(platform(), organisation_id=world.organisation.pk, month=month)
        assert made.total_fen == made.cash_fen == -1250
        line = StatementLine.objects.get(statement=made, section=StatementSection.BILL, kind="adjustment")
        assert (line.label_en, line.amount_fen) == ("CN-1: Outage of 3 November", -1250)
        book = revenue.monthly_books(platform(), last=month, count=1)[0]
        assert (book.adjusted_fen, book.consumption_fen, book.recognised_fen) == (-1250, 0, -1250)
        assert [row["fen"] for row in revenue.by_organisation(platform(), month=month)] == [-1250]
        assert [each.fen for each in revenue.revenue_checks(platform(), month=month)] == [0, 0, 0]
        notice = Notice.objects.get(kind="billing.adjusted", user=treasurer)
        assert "A credit note: ¥12.50" in words(notice).title
        assert "Outage of 3 November" in words(notice).text
    assert "CN-1: Outage of 3 November" in text_of(clerk.get(page("statement", made.pk)))
    assert "Outage of 3 November" in text_of(signed_in(treasurer).get("/billing/wallet/"))
    mine = signed_in(treasurer).get("/api/v1/adjustments/").json()["results"]
    assert [(row["number"], row["amount_fen"]) for row in mine] == [("CN-1", 1250)]


def test_the_api_does_the_same(world: World, clerk: Client) -> None:
    body = {
        "organisation_id": str(world.organisation.pk),
        "kind": "debit",
        "amount_fen": 300,
        "number": "DN-7",
        "reason": "Extra support",
    }
    codes = [clerk.post(API, body, content_type="application/json").status_code for _twice in range(2)]
    assert codes == [201, 200]
    other = clerk.post(API, {**body, "amount_fen": 301}, content_type="application/json")
    assert other.status_code == 409
    large = clerk.post(API, {**body, "number": "DN-8", "amount_fen": 5_000_000}, content_type="application/json")
    assert large.status_code == 202
    assert large.json()["kind"] == "debit"
    with acting(platform()):
        assert Transfer.objects.filter(kind=TransferKind.ADJUSTMENT).count() == 1


@pytest.mark.parametrize("role", [PlatformRole.OPS, PlatformRole.BUSINESS])
def test_nobody_else_of_the_staff_adjusts(world: World, role: PlatformRole) -> None:
    client = signed_in(make_staff(role, "other"))
    assert client.get(page("adjustments")).status_code == 403
    assert client.post(page("adjustment_create"), given(world)).status_code == 403
    assert client.post(API, {}, content_type="application/json").status_code == 403
