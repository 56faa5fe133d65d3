"""A gateway in a thread of its own, and browsers that know only how to send requests."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import uvicorn
from django.conf import LazySettings
from django.db import connections
from django.test import Client

from apps.billing import selectors as funds
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.workloads import services as workloads
from apps.workloads.choices import Status
from apps.workloads.gateway import hosts, storing
from apps.workloads.gateway.admissions import Admissions
from apps.workloads.gateway.application import Gateway
from apps.workloads.gateway.hosts import Address
from apps.workloads.models import Workload
from apps.workloads.reach import NotListening, endpoint
from apps.workloads.spec import Image, Port, Spec
from tests.builders import World, signed_in
from tests.ports import free_port
from tests.workloads.loops import until

PROGRAM = Path(__file__).with_name("program.py").read_text()
PORT = 8888
COOKIE = "plstack_app"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Site:
    """A running gateway."""

    port: int
    gateway: Gateway

    def ask(
        self, method: str, address: Address | str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own; Host is what a browser would send for the address."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        host = address if isinstance(address, str) else hosts.netloc(address)
        try:
            connection.request(
                method, path, body, {"Host": host, **(headers or {})}, encode_chunked=hasattr(body, "__next__")
            )
            response = connection.getresponse()
            return Answer(response.status, response.getheaders(), response.read())
        finally:
            connection.close()


@dataclass(slots=True)
class Visit:
    """A browser that has been let in to one port."""

    site: Site
    address: Address
    token: str
    cookies: dict[str, str] = field(default_factory=dict)

    def headers(self) -> dict[str, str]:
        pairs = {**self.cookies, COOKIE: self.token}
        return {"Cookie": "; ".join(f"{key}={value}" for key, value in pairs.items())}

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        return self.site.ask(method, self.address, path, body, {**self.headers(), **(headers or {})})

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers={key.replace("_", "-"): value for key, value in headers.items()})


@contextmanager
def running(settings: LazySettings, recheck_s: float = 0.5, fresh_s: float = 0.2) -> Iterator[Site]:
    """A gateway that looks at permissions more often than people would have it do."""
    port = free_port()
    settings.GATEWAY_ORIGIN = f"http://apps.localhost:{port}"
    gateway = Gateway(Admissions(storing.ask, recheck_s, fresh_s))
    server = uvicorn.Server(
        uvicorn.Config(gateway, port=port, lifespan="on", log_config=None, server_header=False, date_header=False,
                       timeout_graceful_shutdown=1)
    )  # fmt: skip
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Site(port, gateway)
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
        _leave_the_database()


def _leave_the_database() -> None:
    """The threads outlive this gateway; their connections must not outlive the test."""
    barrier = threading.Barrier(5)

    def leave() -> None:
        connections.close_all()
        barrier.wait(60)

    for _ in range(4):
        storing._threads.submit(leave)
    barrier.wait(60)


def submit_server(world: World, actor: Actor | None = None, delay_s: float = 0) -> Workload:
    """A queued environment that will serve the program on its port `lab`; port `other` stays silent."""
    argv = ("python", "-c", PROGRAM, str(PORT), str(delay_s))
    return submit(world, argv, actor, ports=(Port("lab", PORT), Port("other", PORT + 1)))


def submit(world: World, argv: tuple[str, ...], actor: Actor | None = None, **changes: Any) -> Workload:
    """A queued environment that will run `argv`; `changes`: further fields of its spec."""
    actor = actor or world.actor
    spec = Spec(
        image=Image(world.image.key, tuple(world.image.requirements)),
        argv=argv,
        cpu_milli=world.package.cpu_milli,
        memory_mib=world.package.memory_mib,
    )
    with acting(actor):
        quote = funds.quote(actor, package_id=world.package.pk)
        submission = workloads.Submission(
            kind=ENVIRONMENT,
            name="lab",
            spec=replace(spec, **changes),
            package_id=world.package.pk,
            price_version_id=quote.price_version_id,
            key=uuid4().hex,
            id=uuid4(),
        )
        return workloads.submit(actor, submission)


def serve(world: World) -> Workload:
    """A running environment whose program listens."""
    workload = until(submit_server(world), lambda w: w.status == Status.RUNNING)
    end = time.monotonic() + 60
    while True:
        try:
            endpoint(world.actor, workload)
            return workload
        except NotListening:
            assert time.monotonic() < end
            time.sleep(0.05)


def knock(client: Client, workload: Workload, port: str = "", path: str = "/") -> tuple[int, str]:
    """Status and place of the portal's answer to `open`."""
    slug = f"{port}/" if port else ""
    response = client.get(f"/open/{workload.pk}/{slug}", {"next": path}, HTTP_HOST="localhost")
    return response.status_code, response.headers.get("Location", "")


def enter(site: Site, client: Client, workload: Workload, port: str = "", path: str = "/") -> Visit:
    """From the portal into the workload, as a browser goes."""
    status, place = knock(client, workload, port, path)
    assert status == 303, place
    url = urlsplit(place)
    address = hosts.parse(url.netloc)
    assert address is not None
    answer = site.ask("GET", address, f"{url.path}?{url.query}")
    assert answer.status == 303, answer.body
    cookie = answer.header("set-cookie") or ""
    assert cookie.startswith(f"{COOKIE}=")
    return Visit(site, address, cookie.split(";")[0].partition("=")[2])


def code_of(place: str) -> str:
    return parse_qs(urlsplit(place).query)["code"][0]


def alice(world: World) -> Client:
    return signed_in(world.alice)
