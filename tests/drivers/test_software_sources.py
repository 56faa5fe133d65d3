"""Where packages come from: one setting for whoever prepares runtimes and for programs inside."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.base import ExitReason, IsolationLevel, RuntimeImage, RuntimeKind, SoftwareSources
from apps.workloads.drivers.local import mounting
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.environment import EGRESS_SOCKET
from apps.workloads.drivers.local.records import RunSpec, decode_spec, encode_spec
from apps.workloads.drivers.remote import codec
from apps.workloads.drivers.said import Code
from apps.workloads.drivers.software_sources import bundle, of_machine
from tests.drivers.indexes import FAR, Index, index
from tests.drivers.kit import VOLUMES, Kit

INSIDE = """
import os, ssl, urllib.request
url = os.environ["PIP_INDEX_URL"] + "answer/"
npm = url.replace("simple/answer", "npm")
print(urllib.request.urlopen(url, timeout=60).status, os.environ["npm_config_registry"] == npm)
print(*sorted({name for name, value in os.environ.items() if value.endswith(".pem")}))
"""


@pytest.fixture
def campus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """An index that this machine is not set to, and whose authority it does not trust."""
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    with index(tmp_path) as found:
        yield found


@contextmanager
def way_out(home: Path, port: int) -> Iterator[list[str]]:
    """A proxy at the socket of `home` that leads every tunnel to this port; the first lines that it got."""
    path = mounting.egress_folder(home) / EGRESS_SOCKET
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    asked: list[str] = []

    def carry(here: socket.socket, there: socket.socket) -> None:
        while data := here.recv(65536):
            there.sendall(data)
        there.shutdown(socket.SHUT_WR)

    def serve(peer: socket.socket) -> None:
        head = peer.recv(65536)
        if not head:
            return
        asked.append(head.partition(b"\r\n")[0].decode())
        there = socket.create_connection(("127.0.0.1", port))
        peer.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        threading.Thread(target=carry, args=(there, peer), daemon=True).start()
        carry(peer, there)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen()

        def accept() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(peer,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield asked
        listener.shutdown(socket.SHUT_RDWR)
    path.unlink()


def fresh(kit: Kit, tmp_path: Path) -> Kit:
    driver = LocalDriver(tmp_path / "fresh", IsolationLevel.L0, False, volumes=VOLUMES)
    return Kit(driver, kit.code, kit.output)


def test_runtimes_are_prepared_from_the_chosen_index_and_trust_its_authority(
    plain: Kit, campus: Index, tmp_path: Path
) -> None:
    kit = fresh(plain, tmp_path)
    image = RuntimeImage("answers", ("answer==1.0",))
    ended, text = kit.run(kit.python("import answer; print(answer.VALUE)", image=image, sources=campus.sources))
    assert ended.succeeded, text
    assert text == "42\n"

    unknown = replace(campus.sources, certificates="")
    ended, text = kit.run(kit.python("", image=RuntimeImage("other", ("answer<2",)), sources=unknown))
    assert ended.reason is ExitReason.IMAGE_FAILED
    assert "certificate" in text + ended.detail.lower()


def test_npm_asks_the_chosen_registry(isolated: Kit, campus: Index) -> None:
    tool = RuntimeImage("wrapped", ("wrappy@1.0.0",), RuntimeKind.NODE)
    kit, sources = isolated, replace(campus.sources, pip_index="")
    script = '"$PLSTACK_TOOL_WRAPPED/bin/node" "$PLSTACK_TOOL_WRAPPED/node_modules/wrappy/index.js"'
    ended, text = kit.run(kit.request("sh", "-c", script, tools=(tool,), sources=sources))
    assert ended.succeeded, text
    assert text == "wrapped\n"
    assert "/npm/wrappy.tgz" in campus.asked


def test_programs_inside_are_told_the_same(isolated: Kit, home: Path, campus: Index) -> None:
    with way_out(home, campus.port) as asked:
        ended, text = isolated.run(isolated.python(INSIDE, egress=True, sources=campus.sources_at(FAR)))
    assert ended.succeeded, text
    status, names = text.splitlines()
    assert status == "200 True"
    assert {"SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} <= set(names.split())
    assert asked[0].startswith(f"CONNECT {FAR}:{campus.port} ")


def test_without_a_sandbox_programs_are_told_as_well(plain: Kit, campus: Index) -> None:
    ended, text = plain.run(plain.python(INSIDE, egress=True, sources=campus.sources))
    assert ended.succeeded, text
    assert text.splitlines()[0] == "200 True"


def test_who_may_not_leave_is_told_nothing(isolated: Kit, campus: Index) -> None:
    source = "import os; print(sorted(name for name in os.environ if 'PIP' in name or 'npm' in name))"
    ended, text = isolated.run(isolated.python(source, sources=campus.sources))
    assert ended.succeeded
    assert text == "[]\n"


def test_a_probe_says_what_is_reached_and_what_is_not(isolated: Kit, home: Path, campus: Index) -> None:
    driver = isolated.driver
    with way_out(home, campus.port):
        assert [(each.said, each.refused) for each in driver.probe_sources("", campus.sources)] == [(None, None)] * 2
    elsewhere = replace(campus.sources, npm_registry=f"https://localhost:{campus.port}/nowhere/")
    pip, npm = driver.probe_sources("", replace(elsewhere, certificates=""))
    assert pip.said is not None
    assert (pip.kind, pip.said.code) == ("pip", Code.SOURCE_UNREACHABLE)
    assert "certificate" in str(pip.said).lower()
    pip, npm = driver.probe_sources("", elsewhere)
    assert pip.said is None
    assert npm.said is not None
    assert (npm.said.code, npm.said.params["status"]) == (Code.SOURCE_ANSWERS, 404)


def test_the_bundle_holds_the_machines_authorities_too(tmp_path: Path) -> None:
    base, further = tmp_path / "base.pem", tmp_path / "further.pem"
    base.write_text("BASE\n")
    further.write_text("FURTHER\n")
    machine = {"SSL_CERT_FILE": str(base), "NODE_EXTRA_CA_CERTS": str(further)}
    chosen = SoftwareSources(certificates="CHOSEN\n")
    path = Path(bundle(chosen, tmp_path, machine))
    assert path.read_text().split() == ["BASE", "FURTHER", "CHOSEN"]
    assert path.stat().st_mode & 0o777 == 0o644
    assert bundle(chosen, tmp_path, machine) == str(path)
    assert bundle(SoftwareSources(), tmp_path, {}) == ""


words = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)
chosen = st.builds(SoftwareSources, *[words] * 8)


@given(chosen, chosen, chosen)
def test_what_is_chosen_goes_before_what_the_machine_has(
    one: SoftwareSources, two: SoftwareSources, three: SoftwareSources
) -> None:
    assert one.over(two).over(three) == one.over(two.over(three))
    assert one.over(SoftwareSources()) == SoftwareSources().over(one) == one.over(one) == one


@given(chosen)
def test_records_and_agents_take_them_whole(sources: SoftwareSources) -> None:
    request = Kit(None, Path("/code"), Path("/output")).request("true", sources=sources)
    spec = RunSpec(request, IsolationLevel.L1, 1000, True, "/home", certificates="/home/x.pem")
    assert decode_spec(encode_spec(spec)) == spec
    assert codec.request_in(json.loads(json.dumps(codec.request_out(request)))) == request


def test_an_agent_of_before_takes_a_request_without_them() -> None:
    told = codec.request_out(Kit(None, Path("/code"), Path("/output")).request("true"))
    assert "sources" not in told["request"]
    assert "certificates" not in told


def test_a_proxy_with_a_password_is_nobodys_business() -> None:
    assert of_machine({"https_proxy": "http://me:secret@proxy.example:3128"}).proxy == ""
    assert of_machine({"HTTPS_PROXY": "http://proxy.example:3128"}).proxy == "http://proxy.example:3128"
