"""Services for tests, and the door in a thread of its own."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import uvicorn
from django.conf import LazySettings

from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.serving import keys, model_names, services, states
from apps.serving.choices import DeploymentStatus, Runtime
from apps.serving.door.application import ServiceDoor
from apps.serving.drafts import Draft
from apps.serving.models import Deployment, Health, Service
from apps.serving.reconcile import advancing, checking, smoking
from apps.serving.scaling import following
from apps.tenants.choices import Role
from apps.workloads import nodes
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.gateway import storing
from apps.workloads.gateway.admissions import Admissions
from apps.workloads.gateway.application import Gateway
from apps.workloads.launching.request import Launch
from apps.workloads.models import Attempt, Placement, Workload
from tests.builders import World, actor_of, make_member, platform, unique
from tests.gateway.kit import _leave_the_database
from tests.ports import free_port
from tests.workloads.loops import tick

DOUBLE = "def predict(model, inputs):\n    return {'y': [2 * x for x in inputs['x']]}\n"


def draft(world: World, script: str = DOUBLE, **changes: Any) -> Draft:
    return Draft(**{"runtime": Runtime.SCRIPT, "image_id": world.image.pk, "script": script, **changes})


def launch(world: World, name: str = "", **changes: Any) -> Launch:
    asked = {"name": name, "image_id": world.image.pk, "package_id": world.package.pk, "key": uuid4().hex}
    return Launch(**{**asked, **changes})


def make_service(
    world: World, script: str = DOUBLE, *, actor: Actor | None = None, name: str = "", wanted: int = 1, **changes: Any
) -> Service:
    """Alice's, with its first version getting ready."""
    actor = actor or world.actor
    with acting(actor):
        name = name or unique("svc")
        return services.create(actor, draft(world, script, **changes), launch(world, name), wanted)


def make_serving(world: World, wanted: int = 1) -> Service:
    """Alice's, whose first version serves."""
    made = make_service(world, wanted=wanted)
    first = of(made, DeploymentStatus.PREPARING)
    assert first is not None
    put_ready(first, wanted)
    advance()
    return made


def update(world: World, service: Service, script: str, wanted: int = 1, **changes: Any) -> Deployment:
    with acting(world.actor):
        return services.update(world.actor, service.pk, draft(world, script, **changes), launch(world), wanted)


def of(service: Service, status: DeploymentStatus) -> Deployment | None:
    with acting(platform()):
        found: Deployment | None = Deployment.objects.filter(service=service, status=status).first()
    return found


def put_ready(deployment: Deployment, count: int = 1, *, ready: bool = True, problem: str = "") -> list[Attempt]:
    """As the loops leave so many of its replicas: running, and checked."""
    made = []
    with acting(platform()):
        rows = Workload.objects.filter(replica_set=deployment.replica_set_id).order_by("replica_index")
        for row in rows[:count]:
            now = db_now()
            Workload.objects.filter(pk=row.pk).update(status=Status.RUNNING, status_since=now, started_at=now)
            here = {"organisation_id": row.organisation_id, "node": Node.objects.first()}
            attempt, is_new = Attempt.objects.get_or_create(
                workload=row, number=1, defaults={**here, "started_at": now}
            )
            if is_new:
                Placement.objects.create(attempt=attempt, cpu_milli=1000, memory_mib=512, **here)
            Health.objects.update_or_create(
                attempt=attempt, defaults={"ready": ready, "problem": problem, "organisation_id": row.organisation_id}
            )
            made.append(attempt)
    return made


def advance() -> None:
    with acting(platform()):
        advancing.sweep(platform())


def turn() -> None:
    """Each loop once."""
    tick()
    with acting(platform()):
        checking.check_all()
        smoking.smoke_due()
        advancing.sweep(platform())
        following.sweep(platform())


def turn_until(condition: Callable[[], bool], timeout_s: float = 90.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            rows = Workload.objects.values_list("name", "status", "reason", "reason_data")
            told = [*rows, *Deployment.objects.values_list("status", "reason", "reason_data"), *Health.objects.values()]
            raise AssertionError(f"not so yet: {told}")
        turn()
        time.sleep(0.1)


def a_key(world: World, service: Service, **changes: Any) -> str:
    with acting(world.actor):
        return keys.create(world.actor, service, keys.KeyDraft("test", **changes))[1]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Door:
    """A running gateway with the door."""

    port: int
    door: ServiceDoor
    threads: list[threading.Thread] = field(default_factory=list)

    def ask(
        self, label: str, path: str = "/predict", body: Any = None, headers: dict[str, str] | None = None,
        method: str = "POST", key: str = "",
    ) -> Answer:  # fmt: skip
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": f"{label}.apps.localhost:{self.port}", **(headers or {})}
        sent |= {"Authorization": f"Bearer {key}"} if key else {}
        text = body if isinstance(body, str | bytes | type(None)) else json.dumps(body)
        try:
            connection.request(method, path, text, sent)
            response = connection.getresponse()
            return Answer(
                response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            )
        finally:
            connection.close()


@contextmanager
def running_door(settings: LazySettings) -> Iterator[Door]:
    """As `plstack.gateway` composes it."""
    port = free_port()
    settings.GATEWAY_ORIGIN = f"http://apps.localhost:{port}"
    door = ServiceDoor(Gateway(Admissions(storing.ask)))
    server = uvicorn.Server(
        uvicorn.Config(door, port=port, lifespan="on", log_config=None, server_header=False, date_header=False,
                       timeout_graceful_shutdown=1)
    )  # fmt: skip
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Door(port, door)
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
        _leave_the_database()


def hostname(origin: str) -> str:
    return urlsplit(origin).hostname or ""


def end_all(service: Service) -> None:
    """Whatever its rows say, no program of it is left."""
    driver = nodes.local_driver()
    with acting(platform()):
        for attempt in Attempt.objects.filter(workload__replica_set__deployment__service=service):
            if attempt.handle:
                driver.stop(Handle.from_dict(attempt.handle), 0)


def service_values(world: World, secret: str) -> dict[str, Any]:
    """For paths: a service of Alice's that serves, with a key."""
    actor = actor_of(world.alice, world.organisation)
    service = make_service(world, f"# {secret}\n{DOUBLE}", actor=actor, name=f"{secret} service")
    coming = of(service, DeploymentStatus.PREPARING)
    assert coming is not None
    put_ready(coming)
    with acting(platform()):
        states.activate(platform(), coming)
    with acting(actor):
        key, _secret = keys.create(actor, service, keys.KeyDraft(f"{secret} key"))
        name = model_names.give(actor, service.pk, model_names.NameDraft(f"{secret}-name", f"{secret} upstream"))
    with acting(platform()):
        admin = actor_of(make_member(world.organisation, "gateway-admin", Role.ADMIN), world.organisation)
    with acting(admin):
        gateway_key, _secret = keys.create(admin, None, keys.KeyDraft(f"{secret} gateway key"))
    return {
        "service_id": service.pk,
        "service_key_id": key.pk,
        "gateway_key_id": gateway_key.pk,
        "model_name_id": name.pk,
        "service_version_id": coming.version_id,
        "replica": 0,
    }


def replica_of(service: Service) -> UUID:
    """The id of the workload of one of its replicas."""
    with acting(platform()):
        return Workload.objects.filter(replica_set__deployment__service=service).latest("pk").pk
