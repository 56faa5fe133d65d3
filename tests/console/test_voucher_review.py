"""Vouchers of more than one person may grant alone wait for a second person."""

from datetime import date, timedelta
from unittest.mock import patch

import pytest

from apps.audit.models import Entry
from apps.billing.choices import AccountKind, RequestState, VoucherScope
from apps.billing.days import billing_day
from apps.billing.models import RechargeRequest, Voucher
from apps.billing.payments import recharge_review
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.notifications.models import Notice
from tests.billing.builders import balance
from tests.builders import World, platform
from tests.console.kit import client_of, messages_of, page, post, text_of
from tests.console.test_vouchers import terms
from tests.console.test_vouchers_api import ROOT, send
from tests.console.test_vouchers_api import terms as sent_terms

LARGE = 1_500_000  # fen: more than one person may grant alone


def ask(actor: Actor, world: World, fen: int = LARGE, first: date | None = None) -> Voucher | RechargeRequest:
    begins = first or billing_day(db_now()) + timedelta(days=1)
    spec = VoucherSpec(fen, VoucherScope.EVERYTHING, begins, begins + timedelta(days=30), note="Welcome")
    with acting(actor):
        return recharge_review.grant(actor, organisation_id=world.organisation.pk, spec=spec, key="form")


def asked(actor: Actor, world: World) -> RechargeRequest:
    made = ask(actor, world)
    assert isinstance(made, RechargeRequest)
    return made


def given(world: World) -> int:
    with acting(platform()):
        return balance(world.organisation, AccountKind.VOUCHER)


def test_what_one_person_may_grant_is_granted_at_once(fang: Actor, world: World) -> None:
    made = ask(fang, world, 1_000_000)
    assert isinstance(made, Voucher)
    assert given(world) == 1_000_000
    again = ask(fang, world, 1_000_000)
    assert (type(again), again.pk) == (Voucher, made.pk)


def test_more_waits_for_a_second_person_who_is_told(fang: Actor, guo: Actor, world: World) -> None:
    made = asked(fang, world)
    assert given(world) == 0
    with acting(platform()):
        assert Notice.objects.filter(kind="recharge.asked", user_id=guo.user_id).count() == 1
    with acting(fang), pytest.raises(Conflict):
        recharge_review.approve(fang, request_id=made.pk)
    with acting(guo):
        recharge_review.approve(guo, request_id=made.pk)
    assert given(world) == LARGE
    with acting(platform()):
        made.refresh_from_db()
        assert (made.state, made.decided_by_id) == (RequestState.APPROVED, guo.user_id)
        assert (made.transfer.voucher.note, made.transfer.voucher.left_fen) == ("Welcome", LARGE)
        log = Entry.objects.get(action="billing.voucher.approved")
    assert (log.before["state"], log.after["state"]) == ("pending", "approved")
    assert (log.after["scope"], log.after["amount_fen"]) == ("everything", LARGE)


def test_the_same_form_again_is_the_same_request_whatever_became_of_it(fang: Actor, guo: Actor, world: World) -> None:
    made = asked(fang, world)
    assert ask(fang, world).pk == made.pk
    with pytest.raises(Conflict):
        ask(fang, world, LARGE + 1)
    with acting(guo):
        recharge_review.deny(guo, request_id=made.pk, answer="Too much.")
    again = ask(fang, world)
    assert isinstance(again, RechargeRequest)
    assert (again.pk, again.state) == (made.pk, RequestState.DENIED)
    assert given(world) == 0


def test_wrong_terms_are_refused_before_anybody_is_asked(fang: Actor, world: World) -> None:
    with pytest.raises(Invalid):
        ask(fang, world, first=date(2020, 1, 1))
    with acting(platform()):
        assert not RechargeRequest.objects.exists()


def test_approved_late_it_begins_today_and_after_its_last_day_it_is_not_granted(
    fang: Actor, guo: Actor, world: World
) -> None:
    made, clock = asked(fang, world), "apps.billing.vouchers.terms.db_now"
    too_late = db_now() + timedelta(days=40)
    with acting(guo), patch(clock, lambda: too_late), pytest.raises(Conflict, match="last day is over"):
        recharge_review.approve(guo, request_id=made.pk)
    late = db_now() + timedelta(days=10)
    with acting(guo), patch(clock, lambda: late):
        recharge_review.approve(guo, request_id=made.pk)
    with acting(platform()):
        voucher = Voucher.objects.get()
    assert billing_day(voucher.valid_from) == billing_day(late)
    assert billing_day(voucher.valid_until) == billing_day(db_now()) + timedelta(days=32)


def test_two_clerks_grant_it_on_the_pages(fang: Actor, guo: Actor, world: World) -> None:
    first, second = client_of(fang), client_of(guo)
    assert "Above ¥10,000.00 a second person has to approve it." in text_of(first.get(page("voucher_new")))
    response = post(first, page("voucher_new"), follow=True, **terms(world, amount="15000"))
    assert messages_of(response) == ["Asked for: a second person has to approve it."]
    name = world.organisation.name
    for words in (f"Grant {name} a voucher of ¥15,000.00", "Everything", "It waits for a second person"):
        assert words in text_of(response)
    assert "one-form" not in text_of(response)
    listed = text_of(second.get(page("vouchers")))
    assert "Waiting for a second person" in listed
    with acting(platform()):
        request = RechargeRequest.objects.get()
    assert page("recharge_request", request.pk) in listed
    dialog = text_of(second.get(page("recharge_request_act", request.pk, "approve")))
    assert f"Grant {name} a voucher of ¥15,000.00?" in dialog
    done = post(second, page("recharge_request_act", request.pk, "approve"), follow=True)
    with acting(platform()):
        voucher = Voucher.objects.get()
    assert messages_of(done) == ["The voucher is granted."]
    assert page("voucher", voucher.pk) in text_of(done)
    shown = text_of(second.get(page("voucher", voucher.pk)))
    assert page("recharge_request", request.pk) in shown
    assert "Waiting for a second person" not in text_of(second.get(page("vouchers")))


def test_the_interface_answers_with_the_request(fang: Actor, guo: Actor, world: World) -> None:
    first, second = client_of(fang), client_of(guo)
    waits = send(first, "vouchers/", sent_terms(world, amount_fen=LARGE), key="k-1")
    assert waits.status_code == 202
    body = waits.json()
    assert (body["kind"], body["state"], body["voucher"]) == ("voucher", "pending", None)
    assert body["terms"]["scope"] == "everything"
    approved = send(second, f"recharge-requests/{body['id']}/approve/", {})
    assert approved.json()["state"] == "approved"
    number = approved.json()["voucher"]
    assert second.get(f"{ROOT}/vouchers/{number}/").json()["left_fen"] == LARGE
