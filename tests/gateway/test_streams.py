"""Requests and answers of any size and length, and what the workload is told."""

import hashlib
import http.client
import resource
import time
from collections.abc import Iterator

import pytest

from apps.tenants.models import Membership
from apps.workloads import services
from apps.workloads.gateway import hosts
from apps.workloads.gateway.hosts import Address
from apps.workloads.models import Workload
from tests.builders import World
from tests.gateway.kit import Site, Visit, alice, enter
from tests.gateway.program import BLOCK
from tests.gateway.test_sockets import log_says

MIB = 2**20
SIZE = 200 * MIB


def blocks(size: int) -> Iterator[bytes]:
    for _ in range(size // len(BLOCK)):
        yield BLOCK


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def opened(visit: Visit, path: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", visit.site.port, timeout=60)
    connection.request("GET", path, headers={"Host": hosts.netloc(visit.address), **visit.headers()})
    return connection, connection.getresponse()


def test_path_query_and_method_arrive_as_they_were_written(visit: Visit) -> None:
    told = visit.get("/headers?a=%2F&b=%E4%B8%AD&c=1+2").json()
    assert told["path"] == "/headers?a=%2F&b=%E4%B8%AD&c=1+2"
    assert visit.ask("PUT", "/x", b"body").json()["method"] == "PUT"
    assert visit.get("/nowhere").status == 404


def test_claims_and_platform_cookies_do_not_arrive(visit: Visit) -> None:
    visit.cookies = {"plstack_session": "s", "mine": "1"}
    sent = {"X-Forwarded-For": "10.0.0.1", "Remote-User": "root", "Authorization": "Bearer pls_x", "X-Mine": "1"}
    pairs = visit.ask("GET", "/headers", headers=sent).json()["headers"]
    told = {name.lower(): value for name, value in pairs}
    assert told["host"] == hosts.netloc(visit.address)
    assert told["cookie"] == "mine=1"
    assert told["x-mine"] == "1"
    assert not {"x-forwarded-for", "remote-user", "authorization"} & set(told)


def test_its_answer_cannot_touch_other_hosts(visit: Visit) -> None:
    answer = visit.get("/cookies")
    cookies = [value for name, value in answer.headers if name.lower() == "set-cookie"]
    assert cookies == ["mine=1; Path=/"]
    assert answer.header("alt-svc") is None
    assert answer.header("content-security-policy") == "default-src 'self'"
    assert answer.header("access-control-allow-origin") is None


def test_another_workloads_page_gets_nothing(visit: Visit) -> None:
    neighbour = hosts.origin(Address(visit.address.workload_id, "other"))
    assert visit.ask("POST", "/", b"x", {"Origin": neighbour}).status == 403
    assert visit.get("/", Sec_Fetch_Site="same-site", Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="image").status == 403
    assert visit.get("/", Sec_Fetch_Site="same-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe").status == 403


def test_large_bodies_pass_both_ways_without_being_held(visit: Visit) -> None:
    """Both ends and the gateway share this process: what any of them held would show."""
    visit.ask("PUT", "/upload", blocks(MIB))
    before = peak_mib()

    answer = visit.ask("PUT", "/upload", blocks(SIZE)).json()
    expected = hashlib.sha256()
    for block in blocks(SIZE):
        expected.update(block)
    assert answer == {"size": SIZE, "sha256": expected.hexdigest(), "method": "PUT"}

    connection, response = opened(visit, f"/download?size={SIZE}")
    size = 0
    while block := response.read(MIB):
        size += len(block)
    connection.close()
    assert size == SIZE
    assert peak_mib() - before < 30


def test_a_body_of_known_length_keeps_its_length(visit: Visit) -> None:
    body = BLOCK * 100
    answer = visit.ask("POST", "/upload", body)
    assert answer.json()["size"] == len(body)
    pairs = visit.ask("POST", "/upload", b"")
    assert pairs.json()["size"] == 0


def test_a_slow_reader_holds_the_workload_up_instead_of_filling_memory(visit: Visit) -> None:
    connection, response = opened(visit, f"/download?size={SIZE}")
    before = peak_mib()
    response.read(MIB)
    time.sleep(1.5)
    assert peak_mib() - before < 20
    connection.close()


def test_a_cancelled_download_is_cancelled_inside(visit: Visit, lab: Workload) -> None:
    connection, response = opened(visit, f"/download?size={SIZE}")
    response.read(MIB)
    response.close()
    connection.close()
    assert log_says(lab, "download broken off True")


def test_a_stream_of_events_arrives_as_it_comes_and_ends_with_the_browser(visit: Visit, lab: Workload) -> None:
    connection, response = opened(visit, "/drip")
    assert response.readline() == b"data: tick\n"
    response.close()
    connection.close()
    assert log_says(lab, "drip broken off")


def test_a_right_that_ends_cuts_a_stream(visit: Visit, lab: Workload, world: World) -> None:
    connection, response = opened(visit, "/drip")
    response.readline()
    Membership.objects.filter(user=world.alice).delete()
    assert log_says(lab, "drip broken off")
    connection.close()


def test_a_right_that_ends_before_the_answer_is_told_in_words(visit: Visit, lab: Workload, world: World) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", visit.site.port, timeout=60)
    wanted = {"Host": hosts.netloc(visit.address), "Accept": "text/html", **visit.headers()}
    connection.request("GET", "/silent", headers=wanted)
    assert log_says(lab, "asked in silence")
    Membership.objects.filter(user=world.alice).delete()
    response = connection.getresponse()
    assert response.status == 401
    assert b"PLStack" in response.read()
    connection.close()


def test_an_answer_that_breaks_off_does_not_look_whole(visit: Visit) -> None:
    connection, response = opened(visit, "/break")
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        response.read()
    connection.close()
    assert visit.get("/hang_up", Accept="text/html").status == 502


def test_many_requests_at_once(visit: Visit) -> None:
    pairs = [opened(visit, "/drip") for _ in range(40)]
    assert {response.readline() for _, response in pairs} == {b"data: tick\n"}
    assert visit.get("/").status == 200
    for connection, response in pairs:
        response.close()
        connection.close()


def test_what_does_not_listen_yet_is_waited_for(site: Site, world: World, lab: Workload) -> None:
    other = enter(site, alice(world), lab, "other")
    answer = other.get("/", Accept="text/html", Accept_Language="en")
    assert answer.status == 503
    assert answer.header("refresh") == "3"
    assert b"nothing listens on this port yet" in answer.body
    assert other.get("/api").header("refresh") is None


def test_what_has_not_started_and_what_has_ended_say_so(visitor: Visit, world: World, queued: Workload) -> None:
    waiting = visitor.get("/", Accept="text/html", Accept_Language="en")
    assert (waiting.status, waiting.header("refresh")) == (503, "3")
    services.stop(world.actor, queued)
    end = time.monotonic() + 60
    while (ended := visitor.get("/", Accept="text/html", Accept_Language="en")).status != 410:
        assert time.monotonic() < end
    assert b"It has ended" in ended.body
    assert ended.header("refresh") is None
