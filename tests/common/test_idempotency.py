"""The same key again is answered with the first answer, and nothing happens twice."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import connections, transaction
from django.test import Client

from apps.common import idempotency, throttling
from apps.common.clock import db_now
from apps.common.idempotency import Replayed, RequestIdentity
from apps.common.models import IdempotentAnswer, RequestCount
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import ApiToken
from apps.training.models import Run
from tests.builders import World, make_member, make_world, platform, signed_in
from tests.drivers.kit import eventually
from tests.training.kit import body_for

RUNS = "/api/v1/training/runs/"
TOKENS = "/api/v1/me/tokens/"


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world(role=Role.ADMIN)


def post(client: Client, url: str, body: dict[str, Any], key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(url, json.dumps(body), content_type="application/json", headers=headers)


def token_body(world: World, name: str = "x") -> dict[str, Any]:
    return {"name": name, "organisation_id": str(world.organisation.pk), "permissions": ["training.view"]}


def test_the_first_answer_is_given_again(world: World) -> None:
    alice, key = signed_in(world.alice), uuid4().hex
    first, again = (post(alice, RUNS, body_for(world), key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Run.objects.count() == 1


def test_a_secret_that_is_shown_once_is_shown_to_who_asks_again_and_kept_sealed(world: World) -> None:
    alice, key = signed_in(world.alice), uuid4().hex
    body = token_body(world, "laptop")
    first, again = (post(alice, TOKENS, body, key) for _ in range(2))
    assert first.status_code == 201, first.content
    assert again.content == first.content
    assert ApiToken.objects.count() == 1
    assert b"laptop" not in bytes(IdempotentAnswer.objects.get().body)


def test_another_request_under_the_same_key_is_refused(world: World) -> None:
    alice, key = signed_in(world.alice), uuid4().hex
    assert post(alice, RUNS, body_for(world), key).status_code == 201
    other = post(alice, RUNS, {**body_for(world), "name": "other"}, key)
    assert other.status_code == 422
    assert other.json()["code"] == "idempotency_key_reused"
    assert Run.objects.count() == 1


def test_a_key_belongs_to_one_person_and_one_path(world: World) -> None:
    bob, key = make_member(world.organisation, "bob", Role.ADMIN), uuid4().hex
    assert post(signed_in(world.alice), RUNS, body_for(world), key).status_code == 201
    assert "Idempotency-Replayed" not in post(signed_in(bob), RUNS, body_for(world), key).headers
    assert "Idempotency-Replayed" not in post(signed_in(world.alice), TOKENS, {"name": "x"}, key).headers
    assert Run.objects.count() == 2


def test_a_refusal_is_not_remembered(world: World) -> None:
    alice, key = signed_in(world.alice), uuid4().hex
    assert post(alice, RUNS, {**body_for(world), "name": ""}, key).status_code == 400
    assert post(alice, RUNS, body_for(world), key).status_code == 201


def test_after_a_day_the_key_is_free_again(world: World) -> None:
    alice, key = signed_in(world.alice), uuid4().hex
    assert post(alice, TOKENS, token_body(world), key).status_code == 201
    IdempotentAnswer.objects.update(created_at=db_now() - timedelta(hours=25))
    again = post(alice, TOKENS, token_body(world), key)
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again.headers
    IdempotentAnswer.objects.update(created_at=db_now() - timedelta(hours=25))
    assert idempotency.forget_old() == 1


def test_a_key_has_a_largest_length(world: World) -> None:
    answer = post(signed_in(world.alice), TOKENS, {"name": "x"}, "k" * 65)
    assert answer.status_code == 400
    assert "Idempotency-Key" in answer.json()["fields"]


ASKED = RequestIdentity(user_id=1, organisation_id=None, key="k", path="p", request="r")


def claim(barrier: threading.Barrier, told: list[str], work: Callable[[list[str]], object]) -> None:
    """One of several requests at the same moment; `work` is what the first does, knowing what the others were told."""
    try:
        barrier.wait(60)
        with idempotency.answer_once(ASKED) as first:
            work(told)
            first.remember(idempotency.HttpResponse(b"{}", status=201))
            told.append("ran")
    except Replayed:
        told.append("replayed")
    except idempotency.StillRunning:
        told.append("still running")
    finally:
        connections.close_all()


def race(work: Callable[[list[str]], object]) -> list[str]:
    barrier, told = threading.Barrier(8), list[str]()
    threads = [threading.Thread(target=claim, args=(barrier, told, work)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return sorted(told)


def test_of_parallel_requests_one_runs_and_the_others_wait_for_its_answer(transactional_db: None) -> None:
    assert race(lambda _told: threading.Event().wait(0.3)) == ["ran"] + ["replayed"] * 7


def test_those_that_would_wait_too_long_are_told_to_come_back(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "WAIT_MS", 100)
    assert race(lambda told: eventually(lambda: len(told), lambda count: count == 7)) == ["ran"] + ["still running"] * 7


def test_a_request_that_dies_leaves_its_key_free(transactional_db: None) -> None:
    with pytest.raises(ZeroDivisionError), idempotency.answer_once(ASKED):
        raise ZeroDivisionError
    with idempotency.answer_once(ASKED):
        pass


def test_only_so_many_requests_a_minute(world: World, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: 1_000_000_050.0))  # in the middle of a minute
    settings.API_REQUESTS_PER_MINUTE = {"person": 3, "token": 3, "anonymous": 2}
    alice, bob = signed_in(world.alice), signed_in(make_member(world.organisation, "bob"))
    answers = [alice.get("/api/v1/me/") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert 0 < int(answers[0].headers["RateLimit-Reset"]) <= 60
    assert 0 < int(answers[3].headers["Retry-After"]) <= 61
    assert answers[3].json()["code"] == "throttled"
    assert bob.get("/api/v1/me/").status_code == 200


def test_guessing_counts_too(world: World, settings: LazySettings) -> None:
    settings.API_REQUESTS_PER_MINUTE = {"person": 3, "token": 3, "anonymous": 2}
    nobody = Client()
    guesses = [nobody.get("/api/v1/me/", headers={"Authorization": "Bearer pls_x"}).status_code for _ in range(7)]
    assert guesses[0] == 401
    assert 429 in guesses


def test_counts_of_long_ago_are_forgotten(db: None) -> None:
    throttling.count_request("someone", 5, now=0.0)
    assert throttling.forget_old() == 1
    assert not RequestCount.objects.exists()


def test_waiting_does_not_limit_the_request_itself(transactional_db: None) -> None:
    with idempotency.answer_once(ASKED), transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)
