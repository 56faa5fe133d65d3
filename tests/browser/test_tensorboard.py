"""A real TensorBoard in the sandbox on real event files of runs, one that still runs, read through the gateway.

Its runtime is kept in one folder of the machine for the next time.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.boards.models import Board
from apps.boards.reconcile.ending import end_unused
from apps.boards.selectors import is_ready
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.storage.services import root_of
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User
from apps.training.models import Run
from apps.workloads import nodes
from apps.workloads.activity import latest_use
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.models import Activity, Attempt
from apps.workloads.tools import tool
from tests.boards.kit import again, open_board
from tests.builders import World, actor_of, make_image, make_member, make_world, platform, signed_in
from tests.drivers.conftest import obstacle
from tests.gateway.kit import Site, Visit, enter, knock, running
from tests.stack import kept_runtimes
from tests.training.kit import submit
from tests.workloads.loops import until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

INSTALL_TIMEOUT_S = 600.0
# Writes as PyTorch's SummaryWriter does, which takes TensorBoard's own writer; then more whenever it is told to.
WRITER = """
import os, time
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

output = os.environ["PLSTACK_OUTPUT"]
writer = EventFileWriter(output + "/logs")

def add(step):
    value = Summary.Value(tag="loss", simple_value=1.0 / (step + 1))
    writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=[value])))
    writer.flush()

add(0)
add(1)
print("written", flush=True)
for step in range(2, 1000 if {lives} else 2):
    time.sleep(1)
    add(step)
"""


@pytest.fixture(autouse=True)
def home(settings: LazySettings) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="plstack-boards-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "runtimes").symlink_to(kept_runtimes())
        settings.PLSTACK_HOME = folder
        nodes.local_driver.cache_clear()
        yield folder
        with acting(platform()):
            handles = [Handle.from_dict(attempt.handle) for attempt in Attempt.objects.exclude(handle=None)]
        for handle in handles:
            end(handle)
        nodes.local_driver.cache_clear()


def end(handle: Handle) -> None:
    driver = nodes.local_driver()
    driver.stop(handle, 0)
    eventually(lambda: driver.observe(handle).phase.is_final)


@pytest.fixture
def world() -> World:
    if obstacle():
        pytest.skip(obstacle())
    with acting(platform()):
        return make_world()


@pytest.fixture
def site(world: World, settings: LazySettings) -> Iterator[Site]:
    with running(settings) as copy:
        yield copy


@pytest.fixture
def image(world: World) -> Image:
    """One in which programs can write event files."""
    with acting(platform()):
        return make_image("writes-events", tool("tensorboard").requirements)


def train(world: World, image: Image, name: str, *, lives: bool) -> Run:
    """A run that has written two steps; one that `lives` goes on."""
    run = submit(world, name=name, image_id=image.pk, text=WRITER.replace("{lives}", str(lives)))
    with acting(platform()):
        if lives:
            until(run.workload, lambda _one: bool(list(root_of(run.output).glob("logs/*"))), INSTALL_TIMEOUT_S)
        else:
            until(run.workload, lambda one: not one.is_live, INSTALL_TIMEOUT_S)
            assert run.workload.status == Status.SUCCEEDED, run.workload.reason_data
    return run


def opened(world: World, *runs: Run, actor: Actor | None = None) -> Board:
    """As soon as TensorBoard answers."""
    actor = actor or world.actor
    board = open_board(world, *runs, actor=actor)
    with acting(platform()):
        until(board.workload, lambda one: one.status == Status.RUNNING, INSTALL_TIMEOUT_S)
    board = again(board)
    with acting(actor):
        eventually(lambda: is_ready(actor, board))
    return board


def eventually(said: Callable[[], Any], timeout_s: float = 240) -> Any:
    end = time.monotonic() + timeout_s
    while not (found := said()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found


def steps(visit: Visit, label: str) -> list[int]:
    """Of the points of the curve, by TensorBoard's own data API; empty while it has not read the run."""
    answer = visit.get(f"/data/plugin/scalars/scalars?run={label.replace(' ', '%20')}%2Flogs&tag=loss")
    return [int(step) for _at, step, _value in answer.json()] if answer.status == 200 else []


def give(user: User, role: Role) -> None:
    with acting(platform()):
        Membership.objects.filter(user=user).update(role=role)


def end_long_unused() -> int:
    """As if the last request were long ago; the gateway may write it down only after that was said."""
    Activity.objects.update(last_request_at="2020-01-01T00:00Z")
    return end_unused(platform())


def said_inside(handle: Handle, command: str) -> str:
    stream = nodes.local_driver().exec(handle, ["sh", "-c", command])
    try:
        return b"".join(iter(stream.read, b"")).decode()
    finally:
        stream.close()


def test_runs_together_live_and_read_only_for_their_owner_alone(world: World, image: Image, site: Site) -> None:
    done, live = train(world, image, "done", lives=False), train(world, image, "训练 b", lives=True)
    output = root_of(done.output)
    (output / "passwd").symlink_to("/etc/passwd")
    (output / "events.out.tfevents.1.hostile").write_bytes(os.urandom(4096))
    before = sorted(os.listdir(output))

    board = opened(world, done, live)
    visit = enter(site, signed_in(world.alice), board.workload)
    assert "<title>TensorBoard</title>" in visit.get("/").body.decode()
    assert eventually(lambda: len(visit.get("/data/runs").json()) == 2)
    assert set(visit.get("/data/runs").json()) == {"done v1/logs", "训练 b v1/logs"}
    assert eventually(lambda: steps(visit, "done v1") == [0, 1])  # it can be asked while it reads the file
    seen = eventually(lambda: steps(visit, "%E8%AE%AD%E7%BB%83 b v1"))
    assert eventually(lambda: len(steps(visit, "%E8%AE%AD%E7%BB%83 b v1")) > len(seen)), "it follows what still runs"

    assert sorted(os.listdir(output)) == before
    with acting(platform()):
        handle = Handle.from_dict(Attempt.objects.get(workload=board.workload_id).handle)
    said = said_inside(handle, "touch '/workspace/runs/done v1/x' 2>&1; ls /workspace/runs; id -u")
    assert "Read-only file system" in said
    assert said.splitlines()[1:3] == ["done v1", "训练 b v1"]
    assert os.geteuid() != 0 or said.splitlines()[-1] != "0", "as the tenant"

    with acting(platform()):
        bob, dora = make_member(world.organisation, "bob"), make_member(world.organisation, "dora", Role.ADMIN)
    assert [knock(signed_in(each), board.workload)[0] for each in (bob, dora)] == [404, 404]


def test_it_shuts_out_who_may_not_see_the_run_and_ends_when_nobody_looks(
    world: World, image: Image, site: Site
) -> None:
    """Dora's, over a run of Alice's, whom she manages for a while."""
    with acting(platform()):
        dora = make_member(world.organisation, "dora", Role.ADMIN)
    run = train(world, image, "done", lives=False)
    board = opened(world, run, actor=actor_of(dora, world.organisation))
    visit = enter(site, signed_in(dora), board.workload)
    assert visit.get("/data/runs").status == 200
    give(dora, Role.MEMBER)
    assert eventually(lambda: visit.get("/data/runs").status == 401), "the right to the run is asked while it is open"
    give(dora, Role.ADMIN)
    assert eventually(lambda: visit.get("/data/runs").status == 200)
    with acting(platform()):
        eventually(lambda: latest_use([board.workload_id])[board.workload_id].last_request_at)
        assert end_unused(platform()) == 0
        type(board.workload).objects.filter(pk=board.workload_id).update(status_since="2020-01-01T00:00Z")
        assert eventually(end_long_unused) == 1
        ended = until(again(board).workload, lambda one: not one.is_live, 60)
    assert (ended.status, ended.reason) == (Status.STOPPED, Reason.IDLE)
    assert eventually(lambda: visit.get("/").status == 410)
