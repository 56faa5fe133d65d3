"""Jobs in processes of their own: killed at their deadline, when they are cancelled, and begun again when they die."""

import io
import os
import signal
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.db import connections

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.storage import children, copying, disk, jobs, states, unpacking, usage, working
from apps.storage.choices import JobKind, JobStatus, RootKind
from apps.storage.models import Job
from apps.storage.roots import Root, resolve, row_of
from apps.storage.runner import Chore, Runner
from apps.storage.turns import Piece
from tests.builders import platform
from tests.storage.conftest import People
from tests.storage.kit import make_volume, names, put

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(())
    yield made
    made.stop()


def stuck(_actor: Actor, ticket: jobs.Ticket) -> None:
    """As a child that hangs in the kernel: no news, no end."""
    (disk.staging(ticket.job.organisation_id, ticket.job.pk)).mkdir(parents=True)
    threading.Event().wait()


def endless(_actor: Actor, ticket: jobs.Ticket) -> None:
    """Busy for ever, with news all the time."""
    while True:
        ticket.tell(1, 1)
        time.sleep(0.01)


def turn_until(runner: Runner, reached: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        runner.turn()
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.05)


def status(job: Job) -> tuple[str, str]:
    with acting(platform()):
        row = Job.objects.get(pk=job.pk)
        return row.status, row.error


def is_done(job: Job) -> Callable[[], bool]:
    return lambda: status(job)[0] not in (JobStatus.QUEUED, JobStatus.RUNNING)


def zip_in(root: Root, name: str = "a.zip") -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x/one.txt", "1")
    put(root.path, name, packed.getvalue())


def unpack(actor: Actor, root: Root) -> Job:
    with acting(actor):
        return unpacking.start(actor, root, "a.zip")


@pytest.fixture
def theirs(charlie: Actor) -> Root:
    """Another organisation's volume with a zip in it."""
    with acting(charlie):
        root = resolve(charlie, RootKind.VOLUME, make_volume(charlie).pk)
    zip_in(root)
    return root


def test_a_job_is_done_in_a_child(root: Root, alice: Actor, runner: Runner) -> None:
    zip_in(root)
    job = unpack(alice, root)
    turn_until(runner, is_done(job))
    assert status(job) == (JobStatus.SUCCEEDED, "")
    assert (root.path / "a" / "x" / "one.txt").read_text() == "1"
    turn_until(runner, lambda: not runner.children)


@pytest.mark.parametrize("poison", [stuck, endless])
def test_jobs_that_never_end_keep_no_other_tenant_waiting(
    root: Root, alice: Actor, charlie: Actor, theirs: Root, runner: Runner,
    monkeypatch: pytest.MonkeyPatch, poison: Callable[[Actor, jobs.Ticket], None],
) -> None:  # fmt: skip
    monkeypatch.setitem(working._RUNNERS, JobKind.COPY, poison)
    with acting(alice):
        for _job in range(20):
            copying.start(alice, root, ["notes.txt"], root, "sub")
    runner.turn()
    assert len(runner.children) == 2, "half of the slots"
    job = unpack(charlie, theirs)
    turn_until(runner, is_done(job))
    assert status(job) == (JobStatus.SUCCEEDED, "")
    assert len(runner.children) >= 2


def test_a_job_that_gets_no_further_is_killed_and_says_so(
    root: Root, alice: Actor, runner: Runner, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    monkeypatch.setitem(working._RUNNERS, JobKind.COPY, stuck)
    with acting(alice):
        job = copying.start(alice, root, ["notes.txt"], root, "sub")
    turn_until(runner, disk.staging(job.organisation_id, job.pk).exists)
    settings.PLSTACK_FILE_JOB_IDLE_MINUTES = 0.0
    turn_until(runner, is_done(job))
    assert status(job)[0] == JobStatus.FAILED
    assert "no further" in status(job)[1]
    turn_until(runner, lambda: not runner.children)
    assert not disk.staging(job.organisation_id, job.pk).exists()


def test_a_job_that_is_busy_for_ever_is_killed_at_its_deadline(
    root: Root, alice: Actor, runner: Runner, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    monkeypatch.setitem(working._RUNNERS, JobKind.COPY, endless)
    with acting(alice):
        job = copying.start(alice, root, ["notes.txt"], root, "sub")
    runner.turn()
    settings.PLSTACK_FILE_JOB_MINUTES = 0.01
    turn_until(runner, is_done(job))
    assert "the longest" in status(job)[1]
    turn_until(runner, lambda: not runner.children)


def test_cancelling_kills_at_once_what_is_stuck(
    root: Root, alice: Actor, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(working._RUNNERS, JobKind.COPY, stuck)
    with acting(alice):
        job = copying.start(alice, root, ["notes.txt"], root, "sub")
    turn_until(runner, disk.staging(job.organisation_id, job.pk).exists)
    with acting(alice):
        jobs.cancel(alice, job)
    turn_until(runner, lambda: not runner.children)  # where nobody killed it, it would hang for its ten idle minutes
    assert status(job)[0] == JobStatus.STOPPED
    assert not disk.staging(job.organisation_id, job.pk).exists()


def test_a_child_that_is_killed_is_begun_again_and_given_up_in_words(
    root: Root, alice: Actor, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(working._RUNNERS, JobKind.COPY, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with acting(alice):
        job = copying.start(alice, root, ["notes.txt"], root, "sub")
    turn_until(runner, is_done(job))
    assert status(job)[0] == JobStatus.FAILED
    assert f"{states.MAX_TRIES} times" in status(job)[1]


def test_a_runner_that_is_told_to_stop_leaves_its_jobs_to_the_next_one(
    root: Root, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    zip_in(root)
    monkeypatch.setitem(working._RUNNERS, JobKind.UNPACK, stuck)
    job = unpack(alice, root)
    first = Runner(())
    turn_until(first, disk.staging(job.organisation_id, job.pk).exists)
    first.stop()
    assert status(job)[0] == JobStatus.QUEUED
    with acting(platform()):
        assert Job.objects.get(pk=job.pk).tries == 0
    monkeypatch.undo()
    second = Runner(())
    turn_until(second, is_done(job))
    second.stop()
    assert names(root) == ["a", "sub", "a.zip", "notes.txt"]


POINTS = ["archives._write", "operations.place_tree", "safe_open.replacing", "jobs.set_total"]


def dies_at(point: str, marks: Path) -> Callable[..., int]:
    """A runner process that dies with its child: the first time the job comes to `point`, both are killed."""
    module, _, name = point.partition(".")
    owner = __import__(f"apps.storage.{module}", fromlist=[name])
    original = getattr(owner, name)

    def dying(*given: object, **named: object) -> object:
        if not marks.exists():
            marks.touch()
            os.kill(os.getppid(), signal.SIGKILL)
            threading.Event().wait()
        return original(*given, **named)

    def process() -> int:
        for place in (owner, unpacking, __import__("apps.storage.archives", fromlist=["x"])):
            for each in (name,):
                if hasattr(place, each):
                    setattr(place, each, dying)
        runner = Runner(())
        while True:
            runner.turn()
            time.sleep(0.02)

    return process


@pytest.mark.parametrize("point", POINTS)
def test_kill_9_of_the_runner_at_any_point_leaves_nothing_half_visible(
    root: Root, alice: Actor, tmp_path: Path, point: str
) -> None:
    zip_in(root)
    job = unpack(alice, root)
    pid = children.fork(dies_at(point, tmp_path / "died"), "runner")
    os.waitpid(pid, 0)
    connections.close_all()
    assert (tmp_path / "died").exists()
    assert names(root) == ["sub", "a.zip", "notes.txt"], "half of it can be seen"
    assert status(job)[0] == JobStatus.RUNNING
    with acting(platform()):
        Job.objects.filter(pk=job.pk).update(beat_at="2020-01-01T00:00Z")
    following = Runner(())
    turn_until(following, is_done(job))
    following.stop()
    assert status(job) == (JobStatus.SUCCEEDED, "")
    assert names(root) == ["a", "sub", "a.zip", "notes.txt"]
    with acting(platform()):
        usage.measure_row(row_of(root))
    with acting(alice):
        assert row_of(root).file_count == len(list(root.path.rglob("*")))


def test_a_job_never_runs_twice_at_a_time(root: Root, alice: Actor) -> None:
    """Also where its lease ran out while its child lives on: the lock is the kernel's."""
    zip_in(root)
    job = unpack(alice, root)
    with acting(platform()), disk.exclusive_turn(str(job.pk)) as ours:
        assert ours
        claimed = states.claim(job.pk)
        assert claimed is not None
        pid = children.fork(lambda: working.run_job(claimed), "second")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == children.BUSY
    assert names(root) == ["sub", "a.zip", "notes.txt"]


def test_one_tenants_tree_keeps_no_other_from_being_measured(people: People) -> None:
    """The chore of one piece hangs; those of others are done, and it is killed at its deadline and told of."""
    first, second = people.organisation.pk, UUID(int=7)
    told: list[UUID] = []
    done = Path(disk.data_root()) / "done"
    done.parent.mkdir(parents=True, exist_ok=True)

    def run(piece: UUID) -> None:
        if piece == first:
            threading.Event().wait()
        done.touch()

    pieces = [Piece(first, first, first), Piece(second, second, second)]
    # Time enough for the second on a busy machine.
    runner = Runner((Chore("walk", 0, 5.0, lambda: pieces, run, killed=told.append),))
    turn_until(runner, lambda: done.exists() and first in told)
    runner.stop()
