"""A service on the local driver, behind the real door: under load, nothing that happens to it fails a request."""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.serving import keys, services
from apps.serving.choices import DeploymentStatus as S
from apps.serving.choices import Ending
from apps.serving.door.addresses import label_of_organisation
from apps.serving.keys import KeyDraft
from apps.serving.model_names import NameDraft, give
from apps.serving.models import Deployment, Service, Usage
from apps.serving.reconcile import advancing
from apps.serving.scaling import bounds, deciding, loads
from apps.serving.scaling.deciding import Bounds
from apps.serving.selectors import ready_counts
from apps.tenants.choices import Role
from apps.workloads import nodes, reach
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.sockets import connected
from apps.workloads.models import Attempt
from tests.builders import World, actor_of, make_member, make_world, platform
from tests.serving.kit import Door, a_key, end_all, make_service, of, running_door, turn_until, update

pytestmark = pytest.mark.programs

VERSION = """
import time
def load():
    return {number}
def predict(model, inputs):
    if inputs.get("stream"):
        return ({{"piece": n}} for n in range(3))
    if inputs.get("boom"):
        raise KeyError("boom")
    time.sleep(0.02)
    return {{"version": model, "sum": sum(inputs["x"])}}
"""


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def door(world: World, settings: LazySettings, home: Path) -> Iterator[Door]:
    with running_door(settings) as found:
        yield found


def serves(service: Service, count: int) -> bool:
    found = of(service, S.ACTIVE)
    return found is not None and ready_counts([found.replica_set])[found.replica_set_id] == count


@contextmanager
def load(door: Door, service: Service, key: str, programs: int = 2) -> Iterator[dict[str, Any]]:
    """Programs that ask without a pause; `seen`: versions that answered, `bad`: everything but a good answer."""
    seen: dict[str, Any] = {"versions": set(), "bad": [], "count": 0}
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                answer = door.ask(service.host, body={"x": [1, 2]}, key=key)
            except OSError as error:
                seen["bad"].append(repr(error))
                continue
            seen["count"] += 1
            if answer.status == 200:
                seen["versions"].add(answer.json()["version"])
            else:
                seen["bad"].append((answer.status, answer.body))

    threads = [threading.Thread(target=ask) for _ in range(programs)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)


def test_from_the_first_start_to_the_stop_no_request_fails(
    world: World, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advancing, "DRAIN_S", 2.5)
    service = make_service(world, VERSION.format(number=1), wanted=2)
    key = a_key(world, service)
    try:
        turn_until(lambda: serves(service, 2))
        _answers(door, service, key)
        _answers_by_name(world, door, service, key)
        with load(door, service, key) as seen:
            _updates(world, service)
            _a_failing_version_changes_nothing(world, service)
            _scales_down_and_loses_one(world, service)
        assert seen["bad"] == []
        assert seen["versions"] == {1, 2}
        assert seen["count"] > 100
        with acting(world.actor):
            services.stop(world.actor, service.pk)
        turn_until(lambda: not Attempt.objects.filter(ended_at__isnull=True).exists())
        assert door.ask(service.host, body={}, key=key).json()["error"]["code"] == "stopped"
        _is_counted(seen["count"], service)
    finally:
        end_all(service)


def test_by_load_it_grows_and_shrinks_and_no_request_fails(
    world: World, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "MINUTE_S", 2)
    service = make_service(world, VERSION.format(number=1), repeatable=False)
    key = a_key(world, service)
    with acting(world.actor):
        bounds.follow(world.actor, service.pk, Bounds(1, 3, 2, 1))
    try:
        turn_until(lambda: serves(service, 1))
        with load(door, service, key) as calm:
            with load(door, service, key, programs=5) as rush:
                turn_until(lambda: serves(service, 3))
            turn_until(lambda: serves(service, 1))
            held = loads.of([service.pk])[service.pk]
        assert calm["bad"] == rush["bad"] == []
        assert 1.0 < held <= 2.0, "two programs that always wait for an answer"
        _is_counted(calm["count"] + rush["count"], service)
    finally:
        end_all(service)


def test_whoever_has_not_read_yet_that_a_replica_ends_is_answered_all_the_same(world: World, home: Path) -> None:
    """The door reads once a second who is well, and keeps connections: both lead to one that was just asked to end."""
    service = make_service(world, VERSION.format(number=1))
    try:
        turn_until(lambda: serves(service, 1))
        attempt = Attempt.objects.get(ended_at__isnull=True)
        kept = http.client.HTTPConnection("replica")
        kept.sock = connected(reach.endpoint_of(attempt.workload, attempt), 5.0)
        assert _asked(kept) == 200
        nodes.local_driver().stop(Handle.from_dict(attempt.handle or {}), 20)
        asked_at = time.monotonic()
        while time.monotonic() - asked_at < 1.5:
            assert _asked(kept) == 200
            fresh = http.client.HTTPConnection("replica")
            fresh.sock = connected(reach.endpoint_of(attempt.workload, attempt), 5.0)
            assert _asked(fresh) == 200
            fresh.close()
            time.sleep(0.05)
        kept.close()
        turn_until(lambda: not Attempt.objects.filter(pk=attempt.pk, ended_at__isnull=True).exists(), timeout_s=8)
    finally:
        end_all(service)


def _asked(connection: http.client.HTTPConnection) -> int:
    connection.request("POST", "/predict", '{"x": [1, 2]}', {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _answers_by_name(world: World, door: Door, service: Service, of_service: str) -> None:
    """At the organisation's own address, as the door reads names and keys. This program does not know the call."""
    admin = actor_of(make_member(world.organisation, "admin", Role.ADMIN), world.organisation)
    with acting(admin):
        give(admin, service.pk, NameDraft("sum"))
        key = keys.create(admin, None, KeyDraft("all"))[1]
    label = label_of_organisation(world.organisation.pk)
    listed = door.ask(label, "/v1/models", method="GET", key=key)
    assert [each["id"] for each in listed.json()["data"]] == ["sum"]
    asked = door.ask(label, "/v1/chat/completions", {"model": "sum"}, key=key, headers={"X-Request-Id": "mine-8"})
    assert (asked.status, asked.body, asked.headers["x-request-id"]) == (404, b"Not Found", "mine-8")
    assert door.ask(label, "/v1/chat/completions", {"model": "sum"}, key=of_service).status == 401
    assert door.ask(service.host, body={"x": [1]}, key=key).status == 401


def _answers(door: Door, service: Service, key: str) -> None:
    answer = door.ask(service.host, body={"x": [1, 2]}, key=key, headers={"X-Request-Id": "mine-7", "Cookie": "a=b"})
    assert (answer.status, answer.json()) == (200, {"version": 1, "sum": 3})
    assert answer.headers["x-request-id"] == "mine-7"
    streamed = door.ask(service.host, body={"stream": True}, key=key)
    assert streamed.body.decode() == "".join(f'data: {{"piece": {n}}}\n\n' for n in range(3))
    tensor = {"name": "x", "shape": [2], "datatype": "FP32", "data": [1, 2]}
    v2 = door.ask(service.host, f"/v2/models/{service.name}/infer", {"inputs": [tensor], "id": "1"}, key=key)
    assert {each["name"]: each["data"] for each in v2.json()["outputs"]} == {"version": [1], "sum": [3]}
    for _number in range(20):  # a program that fails keeps its connections, so that none of them breaks the next call
        assert door.ask(service.host, body={"boom": 1}, key=key).status == 500
    assert door.ask(service.host, body="no json", key=key).status == 400


def _updates(world: World, service: Service) -> None:
    update(world, service, VERSION.format(number=2), 2, smoke_path="/predict", smoke_body='{"x": [1]}')
    turn_until(lambda: Deployment.objects.filter(service=service, status=S.ENDED, reason=Ending.REPLACED).exists())
    assert of(service, S.ACTIVE).version.number == 2  # type: ignore[union-attr]


def _a_failing_version_changes_nothing(world: World, service: Service) -> None:
    update(world, service, VERSION.format(number=3), 1, smoke_path="/predict", smoke_body='{"boom": 1}')
    turn_until(lambda: of(service, S.FAILED) is not None)
    assert of(service, S.FAILED).reason == Ending.SMOKE  # type: ignore[union-attr]
    assert of(service, S.ACTIVE).version.number == 2  # type: ignore[union-attr]


def _scales_down_and_loses_one(world: World, service: Service) -> None:
    active = of(service, S.ACTIVE)
    assert active is not None
    live = Attempt.objects.filter(
        workload__replica_set=active.replica_set, ended_at__isnull=True, workload__status=Status.RUNNING
    )
    killed = live.order_by("workload__replica_index")[0]
    nodes.local_driver().stop(Handle.from_dict(killed.handle or {}), 0)
    time.sleep(1.0)  # requests go on while nobody has noticed
    turn_until(lambda: not live.filter(pk=killed.pk).exists())
    turn_until(lambda: serves(service, 2))
    with acting(world.actor):
        services.scale(world.actor, service.pk, 1)
    turn_until(lambda: live.count() == 1)


def _is_counted(count: int, service: Service) -> None:
    end = time.monotonic() + 10
    while sum(Usage.objects.filter(service=service).values_list("requests", flat=True)) < count:
        assert time.monotonic() < end
        time.sleep(0.2)
    rows = list(Usage.objects.filter(service=service))
    assert all(sum(row.times) == row.requests for row in rows)
