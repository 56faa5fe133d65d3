"""WebSockets through the gateway, as browsers open them."""

import json
import os
import socket as sockets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Membership, Organisation
from apps.workloads import nodes
from apps.workloads.drivers.base import Handle
from apps.workloads.gateway import hosts
from apps.workloads.models import Workload
from apps.workloads.selectors import current_attempt, log_chunk
from tests.builders import World
from tests.gateway.kit import Visit


@contextmanager
def socket(visit: Visit, path: str = "/ws", origin: str | None = "", **options: Any) -> Iterator[ClientConnection]:
    with connect(
        f"ws://{hosts.netloc(visit.address)}{path}",
        sock=sockets.create_connection(("127.0.0.1", visit.site.port)),
        origin=Origin(hosts.origin(visit.address) if origin == "" else origin) if origin is not None else None,
        additional_headers=visit.headers(),
        proxy=None,
        open_timeout=60,
        **options,
    ) as connection:
        yield connection


def log_says(lab: Workload, words: str) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if words in log_chunk(current_attempt(lab)).data.decode():
            return True
        time.sleep(0.05)
    return False


def test_text_binary_large_and_empty_messages_come_back_as_they_went(visit: Visit) -> None:
    with socket(visit, max_size=None) as connection:
        for message in ("hello", "", "中文 🙂", b"\x00\xff", b"", os.urandom(300_000), "x" * 5_000_000):
            connection.send(message)
            assert connection.recv(timeout=60) == message


def test_many_messages_keep_their_order(visit: Visit) -> None:
    with socket(visit) as connection:
        for number in range(500):
            connection.send(str(number))
        assert [connection.recv(timeout=60) for _ in range(500)] == [str(number) for number in range(500)]


def test_the_workload_chooses_the_subprotocol(visit: Visit) -> None:
    offered = [Subprotocol("v1.kernel.websocket.jupyter.org"), Subprotocol("second")]
    with socket(visit, subprotocols=offered) as connection:
        assert connection.subprotocol == "second"
    with socket(visit) as connection:
        assert connection.subprotocol is None


def test_its_own_origin_check_can_stay_on(visit: Visit) -> None:
    visit.cookies = {"plstack_session": "s", "_xsrf": "x"}
    with socket(visit) as connection:
        connection.send("headers")
        told = {name.lower(): value for name, value in json.loads(connection.recv(timeout=60)).items()}
    assert told["origin"] == f"http://{told['host']}" == hosts.origin(visit.address)
    assert told["cookie"] == "_xsrf=x"


@pytest.mark.parametrize(
    ("code", "reason"), [(1000, ""), (1001, "bye"), (1011, "broken"), (3000, "own"), (4999, "últim")]
)
def test_the_workloads_close_code_and_reason_reach_the_browser(visit: Visit, code: int, reason: str) -> None:
    with socket(visit) as connection:
        connection.send(f"close {code} {reason}")
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (code, reason)


def test_the_browsers_close_code_reaches_the_workload(visit: Visit, lab: Workload) -> None:
    with socket(visit) as connection:
        connection.close(4321, "done here")
    assert log_says(lab, "closed 4321 done here")


def test_pings_are_answered(visit: Visit) -> None:
    with socket(visit) as connection:
        assert connection.ping().wait(60)


def test_a_workload_that_dies_closes_the_connection(visit: Visit, lab: Workload) -> None:
    with socket(visit) as connection:
        connection.send("still there?")
        connection.recv(timeout=60)
        stop_at_once(lab)
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1011


def stop_at_once(lab: Workload) -> None:
    attempt = current_attempt(lab)
    assert attempt is not None
    assert attempt.handle is not None
    nodes.local_driver().stop(Handle.from_dict(attempt.handle), 0)


@pytest.mark.parametrize("origin", [None, "http://localhost:8000", "http://apps.localhost", "null"])
def test_other_pages_cannot_open_one(visit: Visit, origin: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused, socket(visit, origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_a_neighbouring_workloads_page_cannot_open_one(visit: Visit) -> None:
    neighbour = hosts.origin(hosts.Address(visit.address.workload_id, "other"))
    with pytest.raises(InvalidStatus), socket(visit, origin=neighbour):
        pass


def test_without_a_cookie_none_opens(visit: Visit) -> None:
    visit.token = "made-up"
    with pytest.raises(InvalidStatus) as refused, socket(visit):
        pass
    assert refused.value.response.status_code == 403


def test_a_refusal_by_the_workload_is_passed_on(visit: Visit) -> None:
    with pytest.raises(InvalidStatus) as refused, socket(visit, "/ws?refuse=1"):
        pass
    assert refused.value.response.status_code == 418


def test_a_right_that_ends_closes_what_is_open(visit: Visit, world: World) -> None:
    with socket(visit) as connection:
        connection.send("hello")
        connection.recv(timeout=60)
        Membership.objects.filter(user=world.alice).delete()
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4403


def test_freezing_the_organisation_closes_what_is_open(visit: Visit, world: World) -> None:
    with socket(visit) as connection:
        Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.FROZEN)
        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=60)
