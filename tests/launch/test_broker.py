"""A real task worker and a real Redis that is killed, again and again, while a task of the worker is stuck."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError

from plstack.launch.layout import ROOT, Layout
from plstack.launch.valkey import Valkey
from tests.stack import wait_for

WORKER = """
import sys, time
from plstack.celery import app
import django; django.setup()
from plstack.launch.processes import _work
folder = sys.argv[1]

@app.task(name="tests.stuck")
def stuck():
    open(folder + "/began", "w").close()
    open(folder + "/pipe", "wb")

@app.task(name="tests.note")
def note(number):
    with open(folder + "/notes", "a") as file:
        file.write(f"{number}\\n")

_work("worker", ["reconcile", "default"], "threads", 4)
"""


class Bench:
    """A worker on a Redis of its own, and who sends to it."""

    def __init__(self, store: Valkey, folder: Path) -> None:
        self.store, self.folder, self.sent = store, folder, 0
        broker = store.url.replace("unix://", "redis+socket://")
        self.sender = Celery("sender", broker=broker)
        self.sender.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
        self.sender.conf.task_publish_retry = False
        self.log = (folder / "worker.log").open("wb")
        self.worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(folder)], cwd=ROOT, env={**os.environ, "REDIS_URL": store.url},
            stdout=self.log, stderr=self.log,
        )  # fmt: skip

    def send(self, queue: str) -> int:
        self.sent += 1
        self.sender.send_task("tests.note", (self.sent,), queue=queue)
        return self.sent

    def work_goes_on(self, within_s: float) -> None:
        """Both queues are served, by the same process."""
        for queue in ("reconcile", "default"):
            wait_for(lambda queue=queue: self._is_noted(queue), within_s, f"{queue} is not served")
        assert self.worker.poll() is None

    def _is_noted(self, queue: str) -> bool:
        try:
            number = self.send(queue)
        except (OSError, OperationalError):
            return False
        end = time.monotonic() + 1
        while time.monotonic() < end:
            if str(number) in self.notes():
                return True
            time.sleep(0.05)
        return False

    def notes(self) -> list[str]:
        notes = self.folder / "notes"
        return notes.read_text().split() if notes.exists() else []


@pytest.fixture
def bench(layout: Layout, tmp_path: Path) -> Iterator[Bench]:
    os.mkfifo(tmp_path / "pipe")
    store = Valkey.from_layout(layout)
    store.start()
    store.await_ready()
    bench = Bench(store, tmp_path)
    yield bench
    bench.worker.kill()
    bench.worker.wait()
    bench.log.close()
    store.stop()


def test_redis_killed_again_and_again_beside_a_stuck_task_holds_up_nobody(bench: Bench) -> None:
    bench.work_goes_on(60)
    bench.sender.send_task("tests.stuck", queue="default")
    wait_for(lambda: (bench.folder / "began").exists(), 60)
    for _ in range(3):
        assert bench.store.process is not None
        os.kill(bench.store.process.pid, signal.SIGKILL)
        bench.store.process.wait()
        time.sleep(0.5)
        bench.store.start()
        bench.store.await_ready()
        bench.work_goes_on(60)


def test_redis_emptied_under_load_holds_up_nobody(bench: Bench) -> None:
    bench.work_goes_on(60)
    for _ in range(5):
        bench.store._ask(b"FLUSHALL\r\n")
        bench.work_goes_on(60)
