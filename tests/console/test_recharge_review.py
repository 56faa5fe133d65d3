"""Recharges that need a second person, reversals, and the documents of a payment."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from apps.audit.models import Entry
from apps.billing import selectors as funds
from apps.billing.choices import AccountKind, RequestState, TransferKind
from apps.billing.ledger import services as ledger
from apps.billing.models import PaymentProof, RechargeRequest, Transfer
from apps.billing.payments import proofs, recharge_review
from apps.billing.payments.settings import PaymentSettings
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, InsufficientFunds, Invalid
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants import settings
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from tests.builders import World, make_staff, make_world, platform
from tests.console.kit import client_of, messages_of, page, post, text_of

LARGE = 1_500_000  # fen: more than one person may recharge alone
PDF = b"%PDF-1.7 a slip"


def balance(world: World) -> int:
    with acting(platform()):
        return funds.wallet(platform(), organisation_id=world.organisation.pk).balance_fen


def ask(actor: Actor, world: World, fen: int = LARGE, reference: str = "BANK-9") -> Transfer | RechargeRequest:
    with acting(actor):
        return recharge_review.recharge(
            actor, organisation_id=world.organisation.pk, amount_fen=fen, reference=reference
        )


def asked(actor: Actor, world: World) -> RechargeRequest:
    made = ask(actor, world)
    assert isinstance(made, RechargeRequest)
    return made


def proven(actor: Actor, world: World) -> RechargeRequest:
    """The same with a bank slip, as the second person wants to see it."""
    made = asked(actor, world)
    with acting(actor):
        proofs.add_proof(
            actor, organisation_id=world.organisation.pk, reference=made.reference, name="slip.pdf", content=PDF
        )
    return made


def test_what_one_person_may_recharge_is_credited_at_once(fang: Actor, world: World) -> None:
    before = balance(world)
    assert isinstance(ask(fang, world, 1_000_000), Transfer)
    assert balance(world) == before + 1_000_000


def test_more_waits_for_a_second_person_who_is_told(fang: Actor, guo: Actor, world: World) -> None:
    before = balance(world)
    made = proven(fang, world)
    assert balance(world) == before
    with acting(platform()):
        told = Notice.objects.filter(kind="recharge.asked", user_id=guo.user_id)
        assert told.count() == 1
    with acting(guo):
        recharge_review.approve(guo, request_id=made.pk)
    assert balance(world) == before + LARGE
    with acting(platform()):
        made.refresh_from_db()
        assert (made.state, made.decided_by_id) == (RequestState.APPROVED, guo.user_id)
        assert Notice.objects.filter(kind="recharge.approved", user_id=fang.user_id).count() == 1
        log = Entry.objects.filter(action="billing.recharge.approved").get()
    assert (log.before["state"], log.after["state"]) == ("pending", "approved")


def test_who_asked_cannot_approve_and_only_they_take_it_back(fang: Actor, guo: Actor, world: World) -> None:
    made = asked(fang, world)
    with acting(fang), pytest.raises(Conflict):
        recharge_review.approve(fang, request_id=made.pk)
    with acting(guo), pytest.raises(Conflict):
        recharge_review.withdraw(guo, request_id=made.pk)
    with acting(fang):
        recharge_review.withdraw(fang, request_id=made.pk)
    with acting(guo), pytest.raises(Conflict):
        recharge_review.approve(guo, request_id=made.pk)
    assert isinstance(ask(fang, world), RechargeRequest)  # it can be asked for again


def test_a_denial_needs_a_reason_and_moves_nothing(fang: Actor, guo: Actor, world: World) -> None:
    before = balance(world)
    made = asked(fang, world)
    with acting(guo), pytest.raises(Invalid):
        recharge_review.deny(guo, request_id=made.pk, answer="  ")
    with acting(guo):
        recharge_review.deny(guo, request_id=made.pk, answer="The slip names another company.")
    assert balance(world) == before


def test_the_same_payment_again_is_the_same_request(fang: Actor, guo: Actor, world: World) -> None:
    made = proven(fang, world)
    again = ask(guo, world)
    assert again.pk == made.pk
    with pytest.raises(Conflict):
        ask(fang, world, LARGE + 1)
    with acting(guo):
        recharge_review.approve(guo, request_id=made.pk)
    assert isinstance(ask(fang, world), Transfer)  # known by its reference: nothing more is asked or credited
    with pytest.raises(Conflict):
        ask(fang, world, LARGE + 1)


def test_a_threshold_raised_meanwhile_does_not_let_one_person_through(fang: Actor, world: World) -> None:
    made = asked(fang, world)
    with acting(platform()):
        settings.put(platform(), PaymentSettings(alone_fen=LARGE * 2))
    assert ask(fang, world).pk == made.pk
    with acting(fang), pytest.raises(Conflict):
        recharge_review.approve(fang, request_id=made.pk)


def test_a_reversal_takes_the_whole_back_once_and_never_what_is_spent(fang: Actor, guo: Actor, world: World) -> None:
    wrong = ask(fang, world, 500_000)
    assert isinstance(wrong, Transfer)
    before = balance(world)
    with acting(fang):
        back = recharge_review.ask_reversal(fang, transfer_id=wrong.pk, reason="Credited to the wrong customer.")
        with pytest.raises(Conflict):
            recharge_review.ask_reversal(fang, transfer_id=wrong.pk, reason="Once more.")
    with acting(guo):
        recharge_review.approve(guo, request_id=back.pk)
    assert balance(world) == before - 500_000
    with acting(platform()):
        rows = list(funds.recharges(platform()).filter(organisation=world.organisation).values_list("into_wallet_fen"))
    assert (-500_000,) in rows
    spent = ask(fang, world, 500_000, "BANK-10")
    with acting(platform()):
        wallet = funds.wallet(platform(), organisation_id=world.organisation.pk)
    assert isinstance(spent, Transfer)
    use_up(world, wallet.available_fen - 100)
    with acting(fang):
        late = recharge_review.ask_reversal(fang, transfer_id=spent.pk, reason="Wrong.")
    with acting(guo), pytest.raises(InsufficientFunds):
        recharge_review.approve(guo, request_id=late.pk)
    with acting(platform()):
        late.refresh_from_db()
        assert late.state == RequestState.PENDING


def use_up(world: World, fen: int) -> None:
    with acting(platform()):
        wallet = ledger.organisation_account(world.organisation.pk, AccountKind.CASH)
        revenue = ledger.organisation_account(world.organisation.pk, AccountKind.REVENUE)
        ledger.post(platform(), posting=ledger.Posting(wallet, revenue, fen, TransferKind.USAGE, "usage:test"))


@pytest.mark.django_db(transaction=True)
def test_two_who_approve_at_once_credit_once() -> None:
    with acting(platform()):
        world = make_world()
        people = [platform_actor(make_staff(PlatformRole.FINANCE)) for _each in range(3)]
    before = balance(world)
    made = proven(people[0], world)
    outcomes = at_once([lambda who=who: decide(who, made) for who in people[1:]])
    assert sorted(outcomes) == ["Conflict", "done"]
    assert balance(world) == before + LARGE


def decide(actor: Actor, made: RechargeRequest) -> str:
    try:
        with acting(actor):
            recharge_review.approve(actor, request_id=made.pk)
    except DomainError as error:
        return type(error).__name__
    return "done"


def at_once(jobs: list[Callable[[], str]]) -> list[str]:
    gate, results = threading.Barrier(len(jobs)), []

    def work(job: Callable[[], str]) -> None:
        gate.wait()
        try:
            results.append(job())
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def slip(world: World, **changes: Any) -> dict[str, Any]:
    data = {"organisation": world.organisation.name, "amount": "15,000.00", "reference": "BANK-9", "note": ""}
    data |= {"paid_on": "2026-11-03", "payer": "East Institute", "method": "bank"}
    return {**data, **changes}


def test_two_clerks_do_it_on_the_pages(fang: Actor, guo: Actor, world: World) -> None:
    before = balance(world)
    first, second = client_of(fang), client_of(guo)
    assert "Request approval" in text_of(post(first, page("recharge_new"), **slip(world)))
    file = SimpleUploadedFile("slip.pdf", PDF, "application/pdf")
    response = post(first, page("recharge_create"), follow=True, **slip(world, proofs=file))
    assert messages_of(response) == ["Asked for: a second person has to approve it."]
    with acting(platform()):
        made = RechargeRequest.objects.get()
    assert "slip.pdf" in text_of(response)
    assert "Approve…" not in text_of(response)
    assert "BANK-9" in text_of(second.get(page("recharges")))
    assert "Approve…" in text_of(second.get(page("recharge_request", made.pk)))
    assert "Credit ¥15,000.00" in text_of(second.get(page("recharge_request_act", made.pk, "approve")))
    post(second, page("recharge_request_act", made.pk, "approve"))
    assert balance(world) == before + LARGE
    with acting(platform()):
        made.refresh_from_db()
    receipt = text_of(second.get(page("recharge", made.transfer_id)))
    assert "Approved by" in receipt
    assert "slip.pdf" in receipt


def test_a_denial_on_the_page_keeps_what_was_typed(fang: Actor, guo: Actor, world: World) -> None:
    made = asked(fang, world)
    client = client_of(guo)
    assert post(client, page("recharge_request_deny", made.pk), answer=" ").status_code == 422
    post(client, page("recharge_request_deny", made.pk), answer="Not on the statement.")
    with acting(platform()):
        made.refresh_from_db()
    assert (made.state, made.answer) == (RequestState.DENIED, "Not on the statement.")


@pytest.mark.parametrize("content", [b"<html>", b"MZ\x90", b"", b"%PDF-" + b"x" * proofs.MAX_BYTES])
def test_only_small_documents_are_attached(content: bytes, fang: Actor, world: World) -> None:
    made = asked(fang, world)
    file = SimpleUploadedFile("slip.pdf", content or b" ", "application/pdf")
    response = post(client_of(fang), page("recharge_request_attach", made.pk), proofs=file)
    assert response.status_code == 422
    with acting(platform()):
        assert not PaymentProof.objects.exists()


def test_a_document_is_only_ever_a_download(fang: Actor, world: World) -> None:
    made = asked(fang, world)
    client = client_of(fang)
    post(client, page("recharge_request_attach", made.pk), proofs=SimpleUploadedFile('../a"b.pdf', PDF))
    with acting(platform()):
        kept = PaymentProof.objects.get()
    response = client.get(page("recharge_proof", kept.pk))
    assert response.content == PDF
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "/" not in kept.name


def test_the_api_answers_202_and_a_second_person_approves(fang: Actor, guo: Actor, world: World) -> None:
    data = {"organisation_id": str(world.organisation.pk), "amount_fen": LARGE, "reference": "BANK-9"}
    first, second = client_of(fang), client_of(guo)
    made = first.post("/api/v1/console/recharges/", data, content_type="application/json")
    assert made.status_code == 202
    url = f"/api/v1/console/recharge-requests/{made.json()['id']}"
    post(first, page("recharge_request_attach", made.json()["id"]), proofs=SimpleUploadedFile("slip.pdf", PDF))
    assert first.post(f"{url}/approve/").status_code == 409
    assert second.post(f"{url}/approve/").json()["state"] == "approved"
    listed = second.get("/api/v1/console/recharge-requests/?state=approved").json()["results"]
    assert [each["id"] for each in listed] == [made.json()["id"]]
