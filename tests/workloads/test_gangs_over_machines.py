"""A gang on two machines that joined, through the platform's own loops: it waits for a network, or runs over one."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import pytest

from apps.clusters import services as clusters
from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.common.sealing import purpose_for, seal
from apps.workloads import nodes, selectors
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle, Isolation, IsolationLevel
from apps.workloads.drivers.local import gang_ability
from apps.workloads.models import Attempt, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.programs import members_of
from tests.builders import World, make_node, platform, reload, submit_workload
from tests.drivers import machines
from tests.drivers.conftest import obstacle
from tests.drivers.kit import eventually
from tests.drivers.machines import FarAgent, end
from tests.workloads.loops import tick, until

pytestmark = [pytest.mark.programs, pytest.mark.django_db(transaction=True)]

SERVE = "import socket; print('heard', socket.create_server(('', 7001)).accept()[0].recv(9).decode())"
CALL = """
import os, socket, time
while True:
    try:
        socket.create_connection(('m0', 7001), 2).sendall(b'rank 1')
        break
    except OSError:
        time.sleep(0.1)
"""
LIVE = {Status.QUEUED, Status.PLACED, Status.STARTING, Status.RUNNING, Status.STOPPING}
BY_RANK = f"import os; exec({SERVE!r} if os.environ['PLSTACK_RANK'] == '0' else {CALL!r})"


@pytest.fixture
def world(transactional_db: None, world: World) -> World:
    return world


@pytest.fixture
def agents(world: World, home: Path, tmp_path: Path) -> Iterator[list[FarAgent]]:
    """On two machines with room for one member each, the only ones that take work."""
    if why := machines.obstacle() or obstacle():
        pytest.skip(why)
    nodes.data_root().mkdir(exist_ok=True)
    nodes.data_root().chmod(0o755)
    Node.objects.filter(pk=world.node.pk).update(status="cordoned")
    with ExitStack() as stack:
        found = []
        for index, (namespace, address) in enumerate(stack.enter_context(machines.machines(2))):
            agent = FarAgent(tmp_path / f"machine{index}", nodes.data_root(), namespace, address)
            stack.callback(end, agent)
            agent.start()
            _register(agent, f"far-{index}")
            found.append(agent)
        yield found
        for attempt in Attempt.objects.filter(ended_at__isnull=True):
            for member in members_of(attempt):
                if member.handle:
                    driver_named("remote").stop(Handle.from_dict(member.handle), 0)


def _register(agent: FarAgent, name: str) -> None:
    """As its join does; what it can do is found out as the agent does it."""
    found = gang_ability.find(Isolation(IsolationLevel.L1), agent.address)
    node = make_node(cpu_milli=1500, name=name)
    Node.objects.filter(pk=node.pk).update(
        id=UUID(agent.node_id), driver="remote", address=agent.peer.address, gang_network=found.as_json()
    )
    sealed = seal(agent.secret, purpose=purpose_for("clusters_node", UUID(agent.node_id), "sealed_secret"))
    Node.objects.filter(pk=agent.node_id).update(sealed_secret=sealed)


def submit(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world, argv=("python", "-c", BY_RANK), members=2)


def trust(world: World) -> None:
    clusters.set_trusted_network(platform(), zone_id=world.node.cluster.zone_id, trusted=True)


def test_a_gang_waits_until_the_network_is_trusted_and_then_runs_over_it(world: World, agents: list[FarAgent]) -> None:
    workload = submit(world)
    tick()
    waiting = reload(workload)
    assert waiting.status == Status.QUEUED
    assert waiting.explanation["params"]["apart"]
    trust(world)
    ended = until(workload, lambda each: each.status not in LIVE, timeout_s=60)
    assert ended.status == Status.SUCCEEDED, (ended.reason, ended.reason_data)
    attempt = selectors.current_attempt(ended)
    assert {str(member.node_id) for member in members_of(attempt)} == {agent.node_id for agent in agents}
    assert attempt.network_number == 1
    log = selectors.log_chunk(selectors.program(attempt, 0)).data.decode()
    assert log.splitlines()[-1] == "heard rank 1"
    networks = [agent.home / "gangs" for agent in agents]
    eventually(lambda: [path for each in networks for path in each.iterdir() if path.is_dir()], lambda left: not left)
