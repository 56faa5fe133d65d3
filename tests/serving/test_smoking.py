"""Programs that are asked by the platform may do anything: each answer, or none, is kept, and nobody waits for long."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from apps.common.advisory import try_lock
from apps.common.scoping import acting
from apps.serving.asking import MOST_ANSWER, NoAnswer, ask
from apps.serving.choices import DeploymentStatus as S
from apps.serving.choices import Ending
from apps.serving.models import Deployment, Service
from apps.serving.reconcile import checking, smoking
from apps.workloads import reach
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.models import Attempt
from tests.builders import World, platform
from tests.serving.kit import advance, make_service, of, put_ready

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


@contextmanager
def program(answer: Callable[[socket.socket], None]) -> Iterator[Endpoint]:
    """Listens, and does this with each connection once its request has begun to come."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                accepted, _address = listening.accept()
            except OSError:
                return
            with accepted:
                accepted.recv(65536)
                answer(accepted)
                with contextlib.suppress(OSError):
                    accepted.shutdown(socket.SHUT_WR)
                    while accepted.recv(65536):  # a socket that is closed with bytes unread resets its connection
                        pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Endpoint(host="127.0.0.1", port=listening.getsockname()[1])
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def dripping(first: bytes) -> Callable[[socket.socket], None]:
    """Sends a byte ten times a second for as long as somebody reads."""

    def answer(accepted: socket.socket) -> None:
        try:
            accepted.sendall(first)
            while True:
                accepted.sendall(b"x")
                time.sleep(0.1)
        except OSError:
            return

    return answer


@contextmanager
def somebody_at(name: str) -> Iterator[None]:
    """Another process is in the middle of its turn."""
    taken, go_on = threading.Event(), threading.Event()

    def hold() -> bool:
        try:
            with transaction.atomic():
                locked = try_lock(name)
                taken.set()
                return go_on.wait(60) and locked
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        holding = threads.submit(hold)
        try:
            assert taken.wait(60)
            yield
        finally:
            go_on.set()
        assert holding.result(60)


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\n", HEAD], ids=["status", "headers", "body"])
def test_a_program_that_drips_is_cut_off_at_its_time_wherever_it_is(first: bytes) -> None:
    with program(dripping(first)) as endpoint:
        began = time.monotonic()
        with pytest.raises(NoAnswer, match="too long"):
            ask(endpoint, "GET", "/", timeout_s=0.5)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 many OK\r\n\r\n", b"\x00" * 70000, b""])
def test_what_is_no_http_is_no_answer(said: bytes) -> None:
    with program(lambda accepted: accepted.sendall(said)) as endpoint, pytest.raises(NoAnswer):
        ask(endpoint, "GET", "/", timeout_s=5)


def test_no_more_of_an_answer_is_read_than_is_shown() -> None:
    with program(lambda accepted: accepted.sendall(HEAD + b"x" * (2 * MOST_ANSWER))) as endpoint:
        assert len(ask(endpoint, "GET", "/", timeout_s=20).body) == MOST_ANSWER


@pytest.mark.django_db
class TestSmokeRequests:
    @pytest.fixture(autouse=True)
    def reaching_all(self, db: None) -> Iterator[None]:
        with acting(platform()):
            yield

    @pytest.fixture
    def service(self, world: World) -> Service:
        return make_service(world, smoke_path="/predict", smoke_body='{"x": [1]}')

    @staticmethod
    def coming(service: Service) -> Deployment:
        return Deployment.objects.get(service=service)

    def turn(self, monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint) -> int:
        monkeypatch.setattr(reach, "endpoint_of", lambda *_: endpoint)
        asked = smoking.smoke_due()
        advance()
        return asked

    def test_nobody_is_asked_before_it_is_well_and_it_takes_over_once_its_answer_is_good(
        self, service: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with program(lambda accepted: accepted.sendall(HEAD + b"{}")) as endpoint:
            assert self.turn(monkeypatch, endpoint) == 0
            put_ready(self.coming(service))
            advance()
            assert self.coming(service).status == S.PREPARING, "being well is not enough"
            assert self.turn(monkeypatch, endpoint) == 1
            assert self.coming(service).status == S.ACTIVE
            assert self.turn(monkeypatch, endpoint) == 0, "asked once"

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            (lambda accepted: accepted.sendall(b"HTTP/1.1 500 No\r\n\r\nnan in x"), "HTTP 500: nan in x"),
            (dripping(HEAD), "it took too long"),
            (lambda accepted: None, "Remote end closed"),
        ],
        ids=["500", "drips", "closes"],
    )
    def test_a_bad_answer_fails_it_in_words(
        self, service: Service, monkeypatch: pytest.MonkeyPatch, answer: Callable[[socket.socket], None], told: str
    ) -> None:
        monkeypatch.setattr(smoking, "LONGEST_S", 0.5)
        put_ready(self.coming(service))
        with program(answer) as endpoint:
            self.turn(monkeypatch, endpoint)
        ended = self.coming(service)
        assert (ended.status, ended.reason) == (S.FAILED, Ending.SMOKE)
        assert told in ended.reason_data["problem"]
        assert of(service, S.ACTIVE) is None

    @pytest.mark.parametrize(
        ("name", "loop"), [("smoke requests", smoking.smoke_due), ("service checks", checking.check_all)]
    )
    def test_programs_that_do_not_answer_hold_one_thread_of_all_workers(
        self, service: Service, monkeypatch: pytest.MonkeyPatch, name: str, loop: Callable[[], int]
    ) -> None:
        """While one turn asks, another ends at once. The lock is all that they share."""
        (attempt,) = put_ready(self.coming(service))
        Attempt.objects.filter(pk=attempt.pk).update(handle={"process": 1})
        with program(lambda accepted: accepted.sendall(HEAD)) as endpoint:
            monkeypatch.setattr(reach, "endpoint_of", lambda *_: endpoint)
            with somebody_at(name):
                assert loop() == 0
            assert loop() == 1
