"""One payment told many times at once: one credit, and one answer that says it was this one."""

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse

from apps.billing.models import RechargeRequest, Transfer
from apps.billing.payments import proofs, recharge_review
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from apps.tenants.models import Organisation
from tests.builders import make_organisation, make_staff, platform, signed_in

AT_ONCE = 16
RECHARGES = "/api/v1/console/recharges/"


def all_at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What the calls return, each in a thread of its own and all begun at the same moment, in their order."""
    answers: list[Any] = [None] * len(calls)
    gate = threading.Barrier(len(calls))

    def make(place: int) -> None:
        gate.wait()
        try:
            answers[place] = calls[place]()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=make, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def at_once(client: Client, bodies: list[dict[str, Any]], **headers: str) -> list[Any]:
    answers: list[Any] = []
    gate = threading.Barrier(len(bodies))

    def send(body: dict[str, Any]) -> None:
        gate.wait()
        own = Client()
        own.cookies = client.cookies
        try:
            answers.append(own.post(RECHARGES, json.dumps(body), content_type="application/json", headers=headers))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("amount_fen", [1_000, 90_000_000])
def test_one_reference_is_one_recharge_and_one_201(amount_fen: int) -> None:
    with acting(platform()):
        organisation, staff = make_organisation(), make_staff()
    body = {"organisation_id": str(organisation.pk), "amount_fen": amount_fen, "reference": "slip 7"}
    answers = at_once(signed_in(staff), [body] * AT_ONCE)
    codes = sorted(answer.status_code for answer in answers)
    if amount_fen > 1_000:  # more than one person may move: a request
        assert codes == [202] * AT_ONCE
    else:
        assert codes == [200] * (AT_ONCE - 1) + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    with acting(platform()):
        assert Transfer.objects.filter(organisation=organisation, ref="slip 7").count() == (amount_fen == 1_000)


@pytest.mark.django_db(transaction=True)
def test_other_amounts_at_the_same_time_are_conflicts() -> None:
    with acting(platform()):
        organisation, staff = make_organisation(), make_staff()
    bodies = [
        {"organisation_id": str(organisation.pk), "amount_fen": 1_000 + n, "reference": "slip 8"} for n in range(8)
    ]
    assert sorted(answer.status_code for answer in at_once(signed_in(staff), bodies)) == [201] + [409] * 7


@pytest.mark.django_db(transaction=True)
def test_one_key_is_one_answer() -> None:
    with acting(platform()):
        organisation, staff = make_organisation(), make_staff()
    body = {"organisation_id": str(organisation.pk), "amount_fen": 1_000, "reference": "slip 9"}
    answers = at_once(signed_in(staff), [body] * 8, **{"Idempotency-Key": uuid4().hex})
    assert {answer.status_code for answer in answers} == {201}
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1


def slip(organisation: Organisation, reference: str, amount: str = "10") -> dict[str, str]:
    """The second step's form."""
    known = {"paid_on": "2026-11-02", "payer": "East Institute Ltd", "method": "bank", "note": "November"}
    return {"organisation": organisation.name, "amount": amount, "reference": reference, **known}


def credited(reference: str) -> int:
    with acting(platform()):
        return int(Transfer.objects.filter(ref__iexact=reference).count())


@pytest.mark.django_db(transaction=True)
def test_clerks_who_enter_one_receipt_for_several_organisations_credit_one_of_them() -> None:
    with acting(platform()):
        labs = [make_organisation() for _clerk in range(6)]
        clerks = [signed_in(make_staff(PlatformRole.FINANCE)) for _lab in labs]
    create = reverse("console:recharge_create")
    sent = [partial(clerk.post, create, slip(lab, "slip 10")) for clerk, lab in zip(clerks, labs, strict=True)]
    answers = all_at_once(sent)
    assert sorted(answer.status_code for answer in answers) == [302] + [422] * 5
    assert credited("slip 10") == 1
    won = next(place for place, answer in enumerate(answers) if answer.status_code == 302)
    for place, answer in enumerate(answers):
        if place != won:  # told for whom it is booked, with everything typed still there
            page = answer.content.decode()
            assert f"Already booked for {labs[won].name}" in page
            assert f'name="organisation" value="{labs[place].name}"' in page
            assert 'name="reference" value="slip 10"' in page
            assert 'name="payer" value="East Institute Ltd"' in page
    with acting(platform()):
        assert not RechargeRequest.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_clerks_who_enter_one_receipt_for_one_organisation_credit_it_once() -> None:
    """The first wins. Another amount is refused beside the reference; other letters are the same receipt."""
    with acting(platform()):
        lab = make_organisation()
        clerks = [signed_in(make_staff(PlatformRole.FINANCE)) for _clerk in range(3)]
    create = reverse("console:recharge_create")
    forms = [slip(lab, "Slip 11", "10"), slip(lab, "Slip 11", "20"), slip(lab, "SLIP 11", "10")]
    answers = all_at_once([partial(clerk.post, create, form) for clerk, form in zip(clerks, forms, strict=True)])
    assert sorted(answer.status_code for answer in answers) == [302, 422, 422]
    assert credited("slip 11") == 1
    for answer, form in zip(answers, forms, strict=True):
        if answer.status_code == 422:
            page = answer.content.decode()
            assert "This receipt is booked for it already" in page or "already been used" in page
            for typed in ("amount", "reference", "payer", "note"):
                assert f'value="{form[typed]}"' in page, typed


@pytest.mark.django_db(transaction=True)
def test_of_two_approvals_of_one_receipt_at_the_same_moment_one_moves_money() -> None:
    with acting(platform()):
        labs = [make_organisation(), make_organisation()]
        asks = platform_actor(make_staff(PlatformRole.FINANCE))
        deciders = [platform_actor(make_staff(PlatformRole.FINANCE)) for _lab in labs]
    waiting = []
    with acting(asks):
        for lab in labs:
            made = recharge_review.recharge(
                asks, organisation_id=lab.pk, amount_fen=90_000_000, reference="slip 12", note=""
            )
            proofs.add_proof(
                asks, organisation_id=lab.pk, reference="slip 12", name="slip.pdf", content=b"%PDF-1.7 a slip"
            )
            waiting.append(made.pk)

    def approve(place: int) -> str:
        with acting(deciders[place]) as actor:
            try:
                recharge_review.approve(actor, request_id=waiting[place])
            except Conflict as refusal:
                return str(refusal.message)
            return "moved"

    said = all_at_once([partial(approve, place) for place in range(2)])
    assert said.count("moved") == 1
    won = said.index("moved")
    assert said[1 - won] == f"This receipt was booked for {labs[won].name} after this request was made."
    assert credited("slip 12") == 1
