"""The evidence of work, and the row that it renews."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.db.models.functions import Now

from apps.common import heartbeats
from apps.common.heartbeats import Heartbeat, LoopEvidence, QueueEvidence, ThreadActivity, WorkEvidence
from apps.common.models import ProcessHeartbeat
from plstack.requests import RequestThreads
from tests.drivers.kit import eventually


@pytest.mark.django_db
def test_each_proof_renews_the_row_of_this_process_alone(settings: LazySettings) -> None:
    settings.PLSTACK_INSTANCE = "here"
    ProcessHeartbeat.objects.create(kind="worker", instance="there", pid=1)
    ProcessHeartbeat.objects.create(kind="worker", instance="here", pid=1, beats=50)  # of the one before
    heart = Heartbeat("worker", WorkEvidence())
    heart._write()
    first = ProcessHeartbeat.objects.get(kind="worker", instance="here")
    heart._write()
    second = ProcessHeartbeat.objects.get(kind="worker", instance="here")
    assert (first.pid, first.beats, second.beats) == (os.getpid(), 1, 2)
    assert second.beat_at >= first.beat_at
    assert ProcessHeartbeat.objects.get(instance="there").beats == 1


@pytest.mark.django_db
def test_a_row_that_was_taken_away_is_written_again() -> None:
    heart = Heartbeat("web", WorkEvidence())
    heart._write()
    ProcessHeartbeat.objects.all().delete()
    heart._write()
    assert ProcessHeartbeat.objects.get().kind == "web"


def test_a_database_that_is_away_does_not_end_the_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr("apps.common.heartbeats.close_old_connections", away)
    monkeypatch.setattr("apps.common.heartbeats.connection.close", lambda: None)
    Heartbeat("web", WorkEvidence()).beat()


def test_a_loop_that_turns_often_writes_every_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(Heartbeat, "beat", lambda heart: written.append(heart.kind))
    heart = Heartbeat("files")
    for _ in range(5):
        heart.beat_if_due()
    assert written == ["files"]
    heart._beaten_at -= heartbeats.INTERVAL_S
    heart.beat_if_due()
    assert written == ["files", "files"]


def test_evidence_is_used_up() -> None:
    did = WorkEvidence()
    assert not did()
    did.done()
    assert did()
    assert not did()


def test_a_loop_that_turns_proves_itself_and_one_that_is_blocked_does_not() -> None:
    loop, told = LoopEvidence(), list[bool]()

    async def turn() -> None:
        turning = asyncio.create_task(loop.turn_forever())
        await asyncio.sleep(0.01)
        told.append(loop())
        time.sleep(1.2)
        told.append(loop())
        turning.cancel()

    asyncio.run(turn())
    assert told == [True, False]


def test_a_loop_that_turns_for_nobody_is_no_proof() -> None:
    loop = LoopEvidence(serves=lambda: False)
    loop.done()
    assert not loop()


def test_a_worker_proves_itself_when_each_of_its_queues_was_served() -> None:
    tasks = QueueEvidence()
    tasks.expect(["reconcile", "default"], threads=4)
    for _ in range(2):
        with tasks.running("reconcile"):
            pass
        assert not tasks()
        with tasks.running("default"):
            pass
        assert tasks()
        assert not tasks()


class Pool:
    """Tasks in threads of their own."""

    def __init__(self, threads: int) -> None:
        self.tasks = QueueEvidence()
        self.tasks.expect(["reconcile", "default"], threads)
        self.end = threading.Event()
        self.turns = 0
        self.executor = ThreadPoolExecutor(threads)

    def occupy(self, how: "threading.Event | Path | None" = None) -> None:
        begun = threading.Event()

        def work() -> None:
            with self.tasks.running("default"):
                begun.set()
                if isinstance(how, Path):
                    how.open("wb").close()  # a pipe that nobody reads
                while how is None and not self.end.is_set():
                    time.sleep(0.01)
                    self.turns += 1

        self.executor.submit(work)
        assert begun.wait(60)

    def has_turned(self) -> None:
        """Wait until the work that goes on has gone on."""
        before = self.turns
        eventually(lambda: self.turns, lambda turns: turns > before)


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    os.mkfifo(tmp_path / "pipe")
    yield tmp_path / "pipe"
    os.close(os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK))


def release(pipe: Path, pool: Pool) -> None:
    pool.end.set()
    descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    pool.executor.shutdown()
    os.close(descriptor)


def test_a_pool_whose_threads_are_all_stuck_proves_nothing(pipe: Path) -> None:
    pool = Pool(2)
    pool.occupy(pipe)
    pool.occupy(pipe)
    eventually(pool.tasks, lambda proved: not proved)  # on their way to the pipe they still run
    release(pipe, pool)


def test_a_pool_that_is_full_of_long_work_is_left_alone(pipe: Path) -> None:
    pool = Pool(2)
    pool.occupy(pipe)
    pool.occupy()
    for _ in range(3):
        pool.has_turned()
        assert pool.tasks()
    release(pipe, pool)


def test_long_work_excuses_nobody_who_has_a_free_thread(pipe: Path) -> None:
    """Then messages could be taken, and are not: the consumer is dead."""
    pool = Pool(2)
    pool.occupy()
    pool.has_turned()
    assert not pool.tasks()
    release(pipe, pool)


def test_what_has_run_for_ever_is_not_believed(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(1)
    monkeypatch.setattr(QueueEvidence, "LONGEST_S", 0.05)
    pool.occupy()
    time.sleep(0.1)
    assert not pool.tasks()
    release(pipe, pool)


def test_a_thread_that_sleeps_does_not_move() -> None:
    awake, end = ThreadActivity(), threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    eventually(lambda: awake.has_run([thread.native_id or 0]), lambda ran: not ran)  # on its way to sleep it still runs
    end.set()
    thread.join()


@pytest.mark.django_db
def test_rows_of_containers_that_were_replaced_long_ago_are_forgotten() -> None:
    for kind, instance, hours in (("web", "new", 0), ("web", "old", 2), ("ssh", "only", 2)):
        row = ProcessHeartbeat.objects.create(kind=kind, instance=instance, pid=1)
        ProcessHeartbeat.objects.filter(pk=row.pk).update(beat_at=Now() - timedelta(hours=hours))
    heartbeats.forget_old()
    assert set(ProcessHeartbeat.objects.values_list("instance", flat=True)) == {"new", "only"}


def test_evidence_that_fails_once_does_not_end_the_heart(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    beaten = threading.Event()
    answers = iter([RuntimeError("changed size during iteration"), True])

    def evidence() -> bool:
        answer = next(answers, SystemExit())  # which ends the test's thread
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(heartbeats, "INTERVAL_S", 0.01)
    heart = Heartbeat("web", evidence)
    monkeypatch.setattr(heart, "beat", beaten.set)
    heart.start()
    assert beaten.wait(60)
    assert "could not be taken" in caplog.text


def test_threads_that_start_meanwhile_do_not_disturb_the_evidence() -> None:
    """Twenty pools that grow thread by thread while they are asked without a pause."""
    for _turn in range(20):
        pool = RequestThreads(32)
        asked = threading.Thread(target=_ask, args=(pool, 32))
        asked.start()
        while asked.is_alive():
            pool.serves()
        asked.join()


def _ask(pool: RequestThreads, calls: int) -> None:
    for _call in range(calls):
        pool.submit(time.sleep, 0.02)
