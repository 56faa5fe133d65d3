"""Programs that start together: nobody begins before all are ready, and those of one gang reach each other."""

import time
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import Gang, Handle, LaunchRefused, Phase
from apps.workloads.drivers.capabilities import GangMixin
from tests.drivers.kit import NODE, Kit
from tests.ports import own_port

WHO = "import os; print(os.environ['PLSTACK_RANK'], 'of', os.environ['PLSTACK_MEMBERS'], flush=True)"
SERVE = """
import os, socket
for line in open(os.environ['PLSTACK_HOSTS']):
    name, address, slots = line.split()
    if name == 'm0':
        with socket.create_server((address, 7001)) as server:
            peer, _ = server.accept()
            print('heard', peer.recv(100).decode(), flush=True)
"""
CALL = """
import os, socket, time
address = {line.split()[0]: line.split()[1] for line in open(os.environ['PLSTACK_HOSTS'])}['m0']
for attempt in range(600):
    try:
        with socket.create_connection((address, 7001), 1) as peer:
            peer.sendall(b'rank ' + os.environ['PLSTACK_RANK'].encode())
        break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit('nobody listens')
"""


SERVE, CALL = (program.replace("7001", str(own_port(7001))) for program in (SERVE, CALL))


def gang(kit: Kit, *sources: str) -> list[Handle]:
    """Launched members, one for each program."""
    kit.offers(GangMixin)
    group, nodes = uuid4(), (NODE,) * len(sources)
    members = [kit.python(source, gang=Gang(group, rank, nodes)) for rank, source in enumerate(sources)]
    return [kit.launch(member) for member in members]


def at_barrier(kit: Kit, handles: list[Handle]) -> None:
    for handle in handles:
        kit.wait(handle, lambda seen: seen.phase is Phase.BARRIER or seen.phase.is_final)


class GangContract:
    def test_nobody_begins_before_all_are_released(self, kit: Kit) -> None:
        handles = gang(kit, WHO, WHO)
        at_barrier(kit, handles)
        time.sleep(0.5)
        for handle in handles:
            seen = kit.driver.observe(handle)
            assert seen.phase is Phase.BARRIER
            assert seen.ran_for_s is None, "waiting for the others is not running"
            assert kit.driver.logs(handle).data.count(b"of 2") == 0
        for handle in [*handles, *handles]:
            kit.driver.release(handle)
        for rank, handle in enumerate(handles):
            assert kit.wait_exit(handle).succeeded
            assert kit.text(handle) == f"{rank} of 2\n"

    def test_members_reach_each_other_by_the_addresses_of_their_hosts_file(self, kit: Kit) -> None:
        handles = gang(kit, SERVE, CALL)
        at_barrier(kit, handles)
        for handle in handles:
            kit.driver.release(handle)
        assert [kit.wait_exit(handle).succeeded for handle in handles] == [True, True]
        assert kit.text(handles[0]) == "heard rank 1\n"

    def test_one_that_is_stopped_at_the_barrier_never_ran(self, kit: Kit) -> None:
        (handle, _other) = handles = gang(kit, WHO, WHO)
        at_barrier(kit, handles)
        for each in handles:
            kit.driver.stop(each, 0)
        seen = kit.wait(handle)
        assert seen.ran_for_s is None
        assert kit.text(handle) == ""
        kit.wait(_other)

    def test_a_gang_over_machines_that_nothing_joins_is_refused(self, kit: Kit) -> None:
        kit.offers(GangMixin)
        request = kit.python(WHO, gang=Gang(uuid4(), 0, (NODE, "another")))
        if kit.joins_machines:
            return
        with pytest.raises(LaunchRefused) as refusal:
            kit.launch(request)
        assert refusal.value.code == "gang_over_machines"
