"""The way out of workloads."""

import logging
import re
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.conf import LazySettings
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.workloads import nodes
from apps.workloads.choices import TERMINAL
from apps.workloads.drivers.base import SoftwareSources
from apps.workloads.drivers.software_sources import PUBLIC_FILES, PUBLIC_INDEX
from apps.workloads.gateway import egress
from apps.workloads.gateway.egress import Policy
from apps.workloads.gateway.proxy import Proxy, Refused, parse
from apps.workloads.selectors import current_attempt, log_chunk
from tests.builders import World
from tests.gateway.kit import submit
from tests.gateway.proxies import Running, serving, target
from tests.ports import free_port
from tests.searching import examples
from tests.workloads.loops import until

__all__ = ["target"]


@pytest.fixture
def proxy(tmp_path: Path, target: int) -> Iterator[Running]:
    def resolver(host: str, port: int) -> Sequence[str]:
        return {"mirror.lab": ["127.0.0.1"], "rebind.example": ["10.0.0.1"]}.get(host, ["203.0.113.1"])

    path = tmp_path / "run" / "egress" / "egress.sock"
    yield from serving(Proxy(Policy(None, (f"mirror.lab:{target}",), resolver), path))


def test_anybody_on_the_machine_may_connect_and_nothing_else_lies_beside_it(proxy: Running) -> None:
    assert proxy.path.stat().st_mode & 0o777 == 0o666
    assert list(proxy.path.parent.iterdir()) == [proxy.path]


def test_a_plain_request_is_passed_on_in_origin_form(proxy: Running, target: int) -> None:
    asked = f"GET http://mirror.lab:{target}/a?b=1 HTTP/1.1\r\nHost: evil\r\nProxy-Authorization: x\r\n\r\n"
    answer = proxy.send(asked.encode())
    assert answer.startswith(b"HTTP/1.0 200")
    assert answer.endswith(f"/a?b=1 mirror.lab:{target} None".encode())


def test_a_body_is_passed_on(proxy: Running, target: int) -> None:
    head = f"POST http://mirror.lab:{target}/ HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n".encode()
    assert proxy.send(head + b"x" * 1_000_000).endswith(b"1000000")


def test_a_tunnel_carries_bytes_both_ways(proxy: Running, target: int) -> None:
    inner = b"GET /inside HTTP/1.0\r\nHost: mirror.lab\r\n\r\n"
    answer = proxy.send(f"CONNECT mirror.lab:{target} HTTP/1.1\r\n\r\n".encode() + inner)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.0 200")
    assert answer.endswith(b"/inside mirror.lab None")


@pytest.mark.parametrize(
    "line",
    [
        "CONNECT 127.0.0.1:443",
        "CONNECT localhost:443",
        "CONNECT [::1]:443",
        "CONNECT 169.254.169.254:80",
        "CONNECT 2130706433:443",
        "CONNECT 0x7f.1:443",
        "CONNECT rebind.example:443",
        "CONNECT mirror.lab:22",
        "CONNECT public.example:22",
        "CONNECT user@mirror.lab:443",
        "GET http://127.0.0.1/",
        "GET http://169.254.169.254/latest/meta-data/",
        "GET http://[fd00::1]/",
        "GET http://mirror.lab:1/",
    ],
)
def test_addresses_that_are_not_for_workloads_are_refused_in_words(tmp_path: Path, target: int, line: str) -> None:
    def resolver(host: str, port: int) -> Sequence[str]:
        names = {"mirror.lab": ["127.0.0.1"], "rebind.example": ["10.0.0.1"], "public.example": ["8.8.8.8"]}
        return names.get(host) or [str(entry[4][0]) for entry in socket.getaddrinfo(host, port)]

    proxy = Proxy(Policy(None, (f"mirror.lab:{target}",), resolver), tmp_path / "run" / "egress" / "egress.sock")
    for running in serving(proxy):
        assert running.send(f"{line} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"hello",
        b"GET / HTTP/1.1",
        b"GET https://x/ HTTP/1.1",
        b"GET http://x/",
        b"A B HTTP/2",
        b"GET http://[/ HTTP/1.1",
        b"GET http://]/ HTTP/1.1",
        b"GET http://[::1/ HTTP/1.1",
        b"GET http://[v1.x]:x/ HTTP/1.1",
        b"GET http://x:99999/ HTTP/1.1",
        b"GET http:///path HTTP/1.1",
        b"GET http://x\n/ HTTP/1.1",
        b"GET http://\xe9/ HTTP/1.1",
        b"CONNECT [ HTTP/1.1",
        b"CONNECT [/:443 HTTP/1.1",
        b"CONNECT x:y HTTP/1.1",
        b"CONNECT  HTTP/1.1",
    ],
)
def test_what_is_no_proxy_request_is_refused(head: bytes) -> None:
    with pytest.raises(Refused):
        parse(head)


WORD = st.binary(max_size=12) | st.sampled_from(
    [b"GET", b"CONNECT", b"http://", b"http://[", b"]", b"[::1]", b"mirror.lab", b":", b"@", b"/", b"%00", b"HTTP/1.1"]
)
SPACE = st.sampled_from([b" ", b"", b"\r\n", b"\n", b"\0", b"\t"])
SHAPED = st.builds(
    lambda method, target, version, rest: method + b" " + b"".join(target) + b" " + version + b"\r\n" + rest,
    st.sampled_from([b"GET", b"POST", b"CONNECT", b"X"]),
    st.lists(WORD, max_size=6),
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9"]),
    st.binary(max_size=40),
)
RAW = SHAPED | st.lists(st.tuples(WORD, SPACE), max_size=12).map(lambda pairs: b"".join(a + b for a, b in pairs))
ANSWER = re.compile(rb"HTTP/1\.[01] \d{3} [ -~]+\r\n(?:[!-~]+: [ -~]*\r\n)*\r\n", re.DOTALL)


@pytest.mark.hypothesis
@given(asked=RAW)
@example(asked=b"GET http://[/ HTTP/1.1")
@example(asked=b"CONNECT [/ HTTP/1.1")
@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_sent_gets_a_well_formed_answer_or_a_clean_end(
    proxy: Running, caplog: pytest.LogCaptureFixture, asked: bytes
) -> None:
    answer = proxy.send(asked + b"\r\n\r\n")
    assert answer == b"" or ANSWER.match(answer)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info] == []


def test_endless_headers_are_cut_off(proxy: Running) -> None:
    """More than fits on the way: whoever is still sending is told why, too."""
    assert proxy.send(b"GET http://x/ HTTP/1.1\r\nA: " + b"a" * 4_000_000).startswith(b"HTTP/1.1 431")


def test_who_sends_much_to_what_is_refused_is_told_why(proxy: Running) -> None:
    head = b"POST http://rebind.example/ HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n"
    assert proxy.send(head + b"x" * 4_000_000).startswith(b"HTTP/1.1 403")


def test_a_host_that_does_not_answer_is_told_apart(proxy: Running, tmp_path: Path) -> None:
    port = free_port()
    policy = Policy(None, (f"127.0.0.1:{port}",))
    for running in serving(Proxy(policy, tmp_path / "other" / "egress" / "egress.sock")):
        assert running.send(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 502")


def test_a_newer_process_takes_the_name_over(tmp_path: Path) -> None:
    path = tmp_path / "run" / "egress" / "egress.sock"
    first = serving(Proxy(Policy(), path))
    next(first)
    second = serving(Proxy(Policy(), path))
    inode = path.stat().st_ino
    end = time.monotonic() + 60
    running = next(second)
    while path.stat().st_ino == inode:
        assert time.monotonic() < end
        time.sleep(0.01)
    with pytest.raises(AssertionError):  # the first leaves the second's socket alone
        next(first)
    assert running.send(b"hello\r\n\r\n").startswith(b"HTTP/1.1 400")
    next(second, None)


def test_a_list_of_hosts_closes_everything_else() -> None:
    policy = Policy(frozenset({"one.example", ".two.example"}), ("mirror.lab:3141",), lambda host, port: ["8.8.8.8"])
    for url in (
        "https://one.example/",
        "https://a.two.example/",
        "https://a.b.two.example./",
        "http://mirror.lab:3141/",
    ):
        assert policy.way(url)
    for url in ("https://three.example/", "https://sub.one.example/", "https://two.example/", "https://xtwo.example/"):
        with pytest.raises(Invalid, match="not on the list"):
            policy.way(url)


def test_the_indexes_of_the_settings_are_let_through_from_then_on() -> None:
    told = [SoftwareSources()]
    policy = Policy(resolver=lambda host, port: ["10.0.0.7"], sources=lambda: told[0])
    with pytest.raises(Invalid, match="cannot be used"):
        policy.way("https://index.lab:3141/simple/")
    told[0] = SoftwareSources(pip_index="https://index.lab:3141/simple/")
    assert policy.way("https://index.lab:3141/simple/").target.address == "10.0.0.7"
    with pytest.raises(Invalid):
        policy.way("https://index.lab/")
    told[0] = SoftwareSources(pip_index=PUBLIC_INDEX, file_hosts="files.lab:8443")
    for url in (PUBLIC_INDEX, f"https://{PUBLIC_FILES}/x.whl", "https://files.lab:8443/y.whl"):
        assert policy.way(url).target.address == "10.0.0.7"


def test_a_refused_tunnel_says_which_host_and_which_setting(proxy: Running) -> None:
    line = proxy.send(b"CONNECT rebind.example:443 HTTP/1.1\r\n\r\n").partition(b"\r\n")[0].decode()
    assert line.startswith("HTTP/1.1 403 rebind.example:443 may not be reached from here")
    assert "PLSTACK_EGRESS_ALLOW" in line


def test_the_installations_setting_is_read(settings: LazySettings) -> None:
    settings.EGRESS_ALLOW = ["data.lab"]
    settings.EGRESS = "off"
    assert egress.policy() is None
    settings.EGRESS = "public"
    assert egress.policy() == Policy(None, ("data.lab",))
    settings.EGRESS = "One.example, .two.example"
    assert egress.policy() == Policy(frozenset({"one.example", ".two.example"}), ("data.lab",))


FETCH = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=60).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())
"""


def test_a_program_in_a_sandbox_gets_out_by_it_and_nowhere_else(world: World, target: int) -> None:
    policy = Policy(None, (f"mirror.lab:{target}",), lambda host, port: ["127.0.0.1"])
    urls = (f"http://mirror.lab:{target}/out", "http://127.0.0.2/")
    for _ in serving(Proxy(policy, nodes.egress_sockets()[0])):
        workload = until(submit(world, ("python", "-c", FETCH, *urls), egress=True), lambda w: w.status in TERMINAL, 60)
    lines = log_chunk(current_attempt(workload)).data.decode().splitlines()
    assert f"/out mirror.lab:{target} None" in lines
    assert any(line.startswith("403 This address is not a public one.") for line in lines)
