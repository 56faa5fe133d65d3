"""What is known of a payment that staff record: the form, the lists, the API, the exports, and the proof it needs."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.audit.models import Entry
from apps.billing.choices import PaymentMethod
from apps.billing.days import billing_day
from apps.billing.exports.columns import CellFormat
from apps.billing.exports.money_rows import RECHARGES
from apps.billing.models import ReceivedPayment, RechargeRequest
from apps.billing.payments import recharge_review
from apps.billing.recharges.received import Received, keep_received
from apps.billing.recharges.selectors import recharges
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.common.scoping import acting
from tests.builders import World, platform
from tests.console.kit import client_of, page, post, text_of

PDF = b"%PDF-1.7 a slip"
API = "/api/v1/console/recharges/"


def given(world: World, **changes: Any) -> dict[str, Any]:
    values = {
        "organisation": world.organisation.name,
        "amount": "500",
        "reference": "BANK-3",
        "note": "",
        "paid_on": "2026-11-02",
        "payer": "East Institute Ltd",
        "method": "acceptance",
    }
    return {**values, **changes}


def slip() -> SimpleUploadedFile:
    return SimpleUploadedFile("slip.pdf", PDF, "application/pdf")


def test_day_payer_and_way_stand_on_every_page(fang: Actor, world: World) -> None:
    client = client_of(fang)
    review = text_of(post(client, page("recharge_new"), **given(world)))
    post(client, page("recharge_create"), **given(world))
    with acting(platform()):
        transfer = recharges(platform()).get(ref="BANK-3")
    pages = [review, text_of(client.get(page("recharge", transfer.pk)))]
    for shown in (*pages, text_of(client.get(page("recharges")))):
        assert "East Institute Ltd" in shown
        assert "2026-11-02" in shown
    assert all("伍佰元整" in shown and "Bank acceptance bill" in shown for shown in pages)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"payer": ""}, "required"),
        ({"payer": "x" * 121}, "120"),
        ({"paid_on": ""}, "required"),
        ({"paid_on": "2099-01-01"}, "still to come"),
        ({"paid_on": "1999-12-31"}, "too long ago"),
        ({"method": "barter"}, "valid choice"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_credited(
    fang: Actor, world: World, changes: dict[str, str], words: str
) -> None:
    for step in ("recharge_new", "recharge_create"):
        answer = post(client_of(fang), page(step), **given(world, **changes))
        assert answer.status_code == 422
        assert words in text_of(answer)
    with acting(platform()):
        assert not ReceivedPayment.objects.exists()
        assert not recharges(platform()).filter(ref="BANK-3").exists()


def test_above_the_threshold_the_form_wants_a_proof(fang: Actor, world: World) -> None:
    client = client_of(fang)
    large = given(world, amount="20000")
    refused = post(client, page("recharge_create"), **large)
    assert refused.status_code == 422
    assert "Attach the bank slip" in text_of(refused)
    with acting(platform()):
        assert not RechargeRequest.objects.exists()
    post(client, page("recharge_create"), **large, proofs=slip())
    with acting(platform()):
        asked = RechargeRequest.objects.get()
    shown = text_of(client.get(page("recharge_request", asked.pk)))
    assert "East Institute Ltd" in shown
    assert "贰万元整" in shown


def test_nobody_approves_what_no_document_proves(fang: Actor, guo: Actor, world: World) -> None:
    with acting(fang):
        asked = recharge_review.recharge(
            fang, organisation_id=world.organisation.pk, amount_fen=2_000_000, reference="BANK-4"
        )
    assert isinstance(asked, RechargeRequest)
    with acting(guo), pytest.raises(Conflict, match="No document"):
        recharge_review.approve(guo, request_id=asked.pk)
    post(client_of(guo), page("recharge_request_attach", asked.pk), proofs=slip())
    with acting(guo):
        recharge_review.approve(guo, request_id=asked.pk)


def test_both_people_are_named_in_list_api_and_file(fang: Actor, guo: Actor, world: World) -> None:
    post(client_of(fang), page("recharge_create"), **given(world, amount="20000"), proofs=slip())
    with acting(platform()):
        asked = RechargeRequest.objects.select_related("requested_by").get()
    with acting(guo):
        recharge_review.approve(guo, request_id=asked.pk)
    client = client_of(guo)
    listed = text_of(client.get(page("recharges")))
    name = asked.requested_by.display_name
    assert f"asked by {name}" in listed
    (row,) = [each for each in client.get(API).json()["results"] if each["reference"] == "BANK-3"]
    assert (row["asked_by"], row["payer"], row["paid_on"]) == (
        asked.requested_by.username,
        "East Institute Ltd",
        "2026-11-02",
    )
    with acting(platform()):
        transfer = recharges(platform()).get(ref="BANK-3")
        cells = dict(zip([str(column.label) for column in RECHARGES.columns], RECHARGES.cells(transfer), strict=True))
    assert cells["Asked by"] == asked.requested_by.username
    assert str(cells["Value date"]) == "2026-11-02"
    assert cells["Payer"] == "East Institute Ltd"
    assert [column.look for column in RECHARGES.columns if str(column.label) == "Value date"] == [CellFormat.DAY]


def test_the_api_takes_them_together(fang: Actor, world: World) -> None:
    client = client_of(fang)
    body = {"organisation_id": str(world.organisation.pk), "amount_fen": 700, "reference": "BANK-5"}
    alone = client.post(API, {**body, "payer": "East"}, content_type="application/json")
    assert alone.status_code == 400
    assert "paid_on" in alone.json()["fields"]
    both = {**body, "payer": "East", "paid_on": "2026-11-01", "method": "cheque"}
    made = client.post(API, both, content_type="application/json")
    assert made.status_code == 201
    assert (made.json()["payer"], made.json()["method"]) == ("East", "cheque")


def test_details_change_until_the_money_is_credited(fang: Actor, guo: Actor, world: World) -> None:
    lab = world.organisation.pk
    first = Received(billing_day(db_now()) - timedelta(days=3), "Estern Institute", PaymentMethod.BANK)
    right = Received(first.paid_on, "Eastern Institute", PaymentMethod.BANK)
    with acting(fang):
        for received in (first, right, right):
            keep_received(fang, organisation_id=lab, reference="BANK-6", received=received)
        recharge_review.recharge(fang, organisation_id=lab, amount_fen=100, reference="BANK-6")
        keep_received(fang, organisation_id=lab, reference="BANK-6", received=right)
        with pytest.raises(Conflict):
            keep_received(fang, organisation_id=lab, reference="BANK-6", received=first)
    with acting(platform()):
        assert ReceivedPayment.objects.get().payer == "Eastern Institute"
        assert Entry.objects.filter(action="billing.payment_received").count() == 2
