"""A gang on two machines: its members reach each other by name on every port, nobody else does, and nothing is left."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import CannotSee, Gang, Handle, LaunchRefused, Phase
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.overlay import Overlay, member_address
from apps.workloads.drivers.remote import client
from apps.workloads.drivers.remote.driver import RemoteDriver
from tests.drivers import conftest, machines
from tests.drivers.contract_gangs import at_barrier
from tests.drivers.kit import Kit, eventually, shim_of
from tests.drivers.machines import FarAgent

NODES = ("one", "two")
PORT = 7321
LISTEN = f"""
import socket
with socket.create_server(("", {PORT})) as server:
    print("listening on", socket.gethostbyname("m0"), flush=True)
    while True:
        connection, _address = server.accept()
        print("heard", connection.recv(99).decode(), flush=True)
        connection.sendall(b"well")
        connection.close()
"""
CALL = f"""
import socket, time
for attempt in range(600):
    try:
        line = socket.create_connection(("m0", {PORT}), 2)
        break
    except OSError:
        time.sleep(0.1)
line.sendall(b"m1")
print(line.recv(99).decode(), flush=True)
"""
KNOCK = f"""
import socket, sys
for host in sys.argv[1:]:
    try:
        line = socket.create_connection((host, {PORT}), 1)
        line.sendall(b"a stranger")
        print("reached", host) if line.recv(99) == b"well" else print("refused")
    except OSError:
        print("refused")
"""
SLEEP = "import time; time.sleep(600)"
BIG = f"""
import socket
size = 4 * 1024 * 1024
if __import__("os").environ["PLSTACK_RANK"] == "0":
    with socket.create_server(("", {PORT})) as server:
        print("listening", flush=True)
        line = server.accept()[0]
        got = 0
        while data := line.recv(65536):
            got += len(data)
        print(got == size)
else:
    import time
    while True:
        try:
            line = socket.create_connection(("m0", {PORT}), 2)
            break
        except OSError:
            time.sleep(0.1)
    line.sendall(bytes(size))
    line.close()
"""


@dataclass
class Site:
    agents: dict[str, FarAgent]
    kit: Kit

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self.agents[node].address for node in NODES)

    def gang(
        self, number: int, *sources: str, nodes: tuple[str, ...] = NODES, arguments: tuple[str, ...] = ()
    ) -> list[Handle]:
        """Launched members and at their barrier."""
        overlay = Overlay(number, tuple(self.agents[node].address for node in nodes))
        group, handles = uuid4(), []
        for rank, source in enumerate(sources):
            request = self.kit.python(source, *arguments, gang=Gang(group, rank, nodes, overlay), node=nodes[rank])
            handles.append(self.kit.launch(request))
        at_barrier(self.kit, handles)
        return handles

    def release(self, handles: list[Handle]) -> None:
        for handle in handles:
            self.kit.driver.release(handle)

    def end(self, handles: list[Handle]) -> None:
        for handle in handles:
            self.kit.driver.stop(handle, 0)
        for handle in handles:
            self.kit.wait(handle)

    def networks(self) -> list[Path]:
        found = [agent.home / "gangs" for agent in self.agents.values()]
        return [path for folder in found if folder.is_dir() for path in folder.iterdir() if path.is_dir()]

    def mounts(self) -> list[str]:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        return [line for line in lines if any(str(agent.home / "gangs") in line for agent in self.agents.values())]

    def links(self) -> list[str]:
        """Interfaces of the machines themselves: only their own way may be there."""
        found = [machines.ip("-n", agent.namespace, "-brief", "link") for agent in self.agents.values()]
        return [line.split("@")[0].split()[0] for text in found for line in text.splitlines()]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Two agents on two machines; whatever their work leaves running is ended with them."""
    if why := machines.obstacle() or conftest.obstacle():
        pytest.skip(why)
    shared = tmp_path_factory.mktemp("shared")
    shared.chmod(0o755)
    with ExitStack() as stack:
        agents = {}
        for node, (namespace, address) in zip(NODES, stack.enter_context(machines.machines(2)), strict=True):
            agents[node] = FarAgent(tmp_path_factory.mktemp(node), shared, namespace, address)
            stack.callback(machines.end, agents[node])
            agents[node].start()
        code, output = shared / "code", shared / "output"
        code.mkdir()
        output.mkdir()
        driver = RemoteDriver(lambda node: agents[node].peer, lambda tenant: None)
        yield Site(agents, Kit(driver, code, output, root=shared))


@pytest.fixture(autouse=True)
def nothing_left(site: Site) -> Iterator[None]:
    yield
    for agent in site.agents.values():
        if agent.process is None:
            agent.start()
    eventually(site.networks, lambda found: not found)
    assert not site.mounts()
    assert sorted(site.links()) == ["eth0", "eth0", "lo", "lo"]


def test_members_on_two_machines_reach_each_other_by_name(site: Site) -> None:
    handles = site.gang(1, LISTEN, CALL)
    assert site.kit.driver.logs(handles[0]).data.count(b"listening") == 0, "nothing begins before the barrier opens"
    site.release(handles)
    assert site.kit.wait_exit(handles[1]).succeeded
    assert site.kit.text(handles[1]) == "well\n"
    site.kit.wait_output(handles[0], "heard m1")
    assert f"listening on {member_address(1, 0)}" in site.kit.driver.logs(handles[0]).data.decode()
    site.end(handles)


def test_long_messages_pass(site: Site) -> None:
    handles = site.gang(2, BIG, BIG)
    site.release(handles)
    assert [site.kit.wait_exit(handle).code for handle in handles] == [0, 0]
    assert site.kit.text(handles[0]).endswith("True\n")


def test_several_members_of_one_machine_share_its_end(site: Site) -> None:
    call = CALL.replace('b"m1"', 'b"another"')
    handles = site.gang(3, LISTEN, call, call, nodes=("one", "one", "two"))
    site.release(handles)
    assert [site.kit.wait_exit(handle).code for handle in handles[1:]] == [0, 0]
    site.end(handles)


def test_nobody_else_reaches_them(site: Site) -> None:
    first = site.gang(4, LISTEN, SLEEP)
    site.release(first)
    site.kit.wait_output(first[0], "listening")
    hosts = (member_address(4, 0), "m0")
    other = site.gang(5, KNOCK, KNOCK, arguments=hosts)
    site.release(other)
    assert [site.kit.wait_exit(handle).code for handle in other] == [0, 0]
    alone = site.kit.run(site.kit.python(KNOCK, *hosts, node="one"))[1]
    assert {alone, *map(site.kit.text, other)} == {"refused\nrefused\n"}
    for before in ([], *(["ip", "netns", "exec", agent.namespace] for agent in site.agents.values())):
        knock = [*before, "python3", "-c", KNOCK, hosts[0], *site.addresses]
        assert subprocess.run(knock, capture_output=True, text=True, check=True).stdout == "refused\n" * 3
    assert "heard" not in site.kit.driver.logs(first[0]).data.decode()
    site.end(first)


def test_a_member_on_the_same_machine_reaches_its_own_gang_alone(site: Site) -> None:
    """The control of the test before: the same knock from inside is heard."""
    patient = KNOCK.replace(f"{PORT}), 1)", f"{PORT}), 60)")
    handles = site.gang(6, LISTEN, patient, arguments=(member_address(6, 0),))
    site.kit.driver.release(handles[0])
    site.kit.wait_output(handles[0], "listening")
    site.kit.driver.release(handles[1])
    assert site.kit.wait_exit(handles[1]).succeeded
    assert site.kit.text(handles[1]) == f"reached {member_address(6, 0)}\n"
    site.end(handles)


def test_the_network_outlives_the_agent_and_goes_with_the_gang(site: Site) -> None:
    handles = site.gang(7, LISTEN, CALL)
    for agent in site.agents.values():
        agent.kill()
    assert len(site.networks()) == 2
    for agent in site.agents.values():
        agent.start()
    site.release(handles)
    assert site.kit.wait_exit(handles[1]).succeeded
    site.end(handles)


def test_an_agent_that_starts_removes_networks_of_gangs_that_are_gone(site: Site) -> None:
    handles = site.gang(8, SLEEP, SLEEP)
    for agent in site.agents.values():
        agent.kill()
    for handle in handles:
        os.kill(shim_of(handle), signal.SIGKILL)
        eventually(lambda ref=handle.ref: list(processes.marked(MARKER, ref)), lambda found: not found)
    assert len(site.networks()) == 2
    for agent in site.agents.values():
        agent.start()
    eventually(site.networks, lambda found: not found)
    for handle in handles:
        client._resting.clear()
        with suppress(CannotSee):
            assert site.kit.wait(handle).phase is Phase.LOST


def test_a_number_that_is_taken_is_refused_in_words(site: Site) -> None:
    first = site.gang(9, SLEEP, SLEEP)
    second = site.gang(9, SLEEP, SLEEP)
    seen = [site.kit.driver.observe(handle) for handle in second]
    assert all(each.exit is not None and "exists" in str(each.exit.said) for each in seen)
    site.end(first)


def test_a_gang_over_machines_that_nothing_joins_is_refused(site: Site) -> None:
    for overlay in (None, Overlay(10, site.addresses[:1]), Overlay(10, ("127.0.0.1", site.addresses[1]))):
        request = site.kit.python(SLEEP, gang=Gang(uuid4(), 0, NODES, overlay), node="one")
        with pytest.raises(LaunchRefused):
            site.kit.launch(request)
