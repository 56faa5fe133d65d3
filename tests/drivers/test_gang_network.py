"""The network that members of a gang share on one machine: theirs alone, and gone with the last of them."""

import os
import signal
import socket
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import Gang, IsolationLevel, Phase
from apps.workloads.drivers.local import gang_network
from tests.drivers.conftest import MakeKit
from tests.drivers.contract_gangs import CALL, SERVE, at_barrier, gang
from tests.drivers.kit import Kit, eventually, shim_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace of its own needs root")

LISTEN = """
import socket, time
with socket.create_server(("127.1.0.1", 7001)) as server:
    print("listening", flush=True)
    time.sleep(60)
"""
KNOCK = """
import socket
try:
    socket.create_connection(("127.1.0.1", 7001), 1)
    print("reached")
except OSError as error:
    print("refused")
"""
NAMES = "import socket; print(socket.gethostbyname('m0'), socket.gethostbyname('m1'))"


def networks(home: Path) -> list[Path]:
    return [path for path in (home / "gangs").iterdir() if path.is_dir()]


def test_members_know_each_other_by_name(isolated: Kit) -> None:
    handles = gang(isolated, NAMES, NAMES)
    at_barrier(isolated, handles)
    for handle in handles:
        isolated.driver.release(handle)
    assert [isolated.wait_exit(handle).code for handle in handles] == [0, 0]
    assert isolated.text(handles[1]) == "127.1.0.1 127.1.0.2\n"


def test_nobody_else_reaches_them(isolated: Kit, home: Path) -> None:
    inside, outside = gang(isolated, LISTEN, LISTEN.replace("7001", "7002")), gang(isolated, KNOCK, KNOCK)
    at_barrier(isolated, [*inside, *outside])
    assert len(networks(home)) == 2
    for handle in inside:
        isolated.driver.release(handle)
    isolated.wait_output(inside[0], "listening")
    alone = isolated.run(isolated.python(KNOCK))[1]
    for handle in outside:
        isolated.driver.release(handle)
    assert {alone, *(isolated.wait_exit(each).reason and isolated.text(each) for each in outside)} == {"refused\n"}
    for handle in inside:
        isolated.driver.stop(handle, 0)
        isolated.wait(handle)
    assert not networks(home)


def test_the_network_goes_with_the_last_member_also_where_shims_were_killed(isolated: Kit, home: Path) -> None:
    handles = gang(isolated, SERVE, CALL)
    at_barrier(isolated, handles)
    for handle in handles:
        os.kill(shim_of(handle), signal.SIGKILL)
    for handle in handles:
        assert isolated.wait(handle).phase is Phase.LOST
    eventually(lambda: networks(home), lambda found: not found)


def test_a_network_of_before_a_restart_of_the_machine_is_made_anew(tmp_path: Path) -> None:
    group = uuid4()
    stale = tmp_path / "gangs" / str(group)
    stale.mkdir(parents=True)
    (stale / "net").touch()
    (stale / "gone").touch()
    network = gang_network.join(tmp_path, Gang(group, 0, ("node-1",)), "member")
    assert os.path.ismount(network)
    gang_network.leave(tmp_path, group, "gone")
    gang_network.leave(tmp_path, group, "member")
    gang_network.leave(tmp_path, group, "member")
    assert not stale.exists()


def test_every_rank_has_an_address_of_its_own() -> None:
    found = {gang_network.address(rank) for rank in range(1000)}
    assert len(found) == 1000
    assert all(address.startswith("127.1.") and not address.endswith(".0.0") for address in found)


def test_plain_work_has_no_names_of_members(isolated: Kit) -> None:
    ended, text = isolated.run(isolated.python("import os; print(sorted(v for v in os.environ if 'RANK' in v))"))
    assert ended.succeeded
    assert text == "[]\n"


def test_both_ways_out_of_one_network_are_open(make_kit: MakeKit) -> None:
    """Each member's first process opens the proxy's port on the loopback that they share."""
    kit = make_kit(IsolationLevel.L1, False)
    group, tenant = uuid4(), uuid4()
    source = """
import os, time
for attempt in range(600):
    found = open('/proc/self/net/tcp').read().count(':0C38 00000000:0000 0A')
    if found == 2:
        break
    time.sleep(0.1)
print(found)
output = os.environ["PLSTACK_OUTPUT"] + "/"
open(output + "looked-" + os.environ["PLSTACK_RANK"], "w").close()
while not (os.path.exists(output + "looked-0") and os.path.exists(output + "looked-1")):
    time.sleep(0.1)  # the other one looks, too
"""
    kit.driver.egress_socket().parent.mkdir(parents=True, exist_ok=True)
    with _listening(kit.driver.egress_socket()):
        handles = [
            kit.launch(kit.python(source, tenant_id=tenant, gang=Gang(group, rank, ("node-1",) * 2), egress=True))
            for rank in range(2)
        ]
        at_barrier(kit, handles)
        for handle in handles:
            kit.driver.release(handle)
        for handle in handles:
            kit.wait(handle)
    assert sorted(kit.text(handle) for handle in handles) == ["2\n", "2\n"]


def _listening(path: Path) -> closing[socket.socket]:
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    os.chmod(path, 0o666)
    server.listen()
    return closing(server)
