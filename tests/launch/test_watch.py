"""The health check of a container: well is what proves itself; what lives and does nothing is killed."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection, connections
from django.db.models import F
from django.db.models.functions import Now

from apps.common.models import ProcessHeartbeat, ProcessReplacement
from plstack.launch.layout import ROOT
from plstack.launch.liveness import POLL_SECONDS
from plstack.launch.watch import FEWEST_LOOKS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """It lives, and does nothing."""
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    yield sleeper
    sleeper.kill()
    sleeper.wait()


def address() -> str:
    """The test's own database, as a process is told."""
    given = connection.settings_dict
    login = f"{given['USER']}:{quote(given['PASSWORD'])}" if given["PASSWORD"] else given["USER"]
    return f"postgresql://{login}@/{given['NAME']}?host={quote(given['HOST'], safe='/')}"


def check(kind: str = "web", redis_url: str | None = None) -> tuple[int, str]:
    env = {**os.environ, "DATABASE_URL": address(), "PLSTACK_INSTANCE": "box"}
    env["REDIS_URL"] = redis_url or settings.REDIS_URL
    argv = [sys.executable, "-m", "plstack.launch.watch", "healthy", kind]
    done = subprocess.run(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    return done.returncode, done.stdout


def heartbeat(kind: str, pid: int, age_s: float = 0.0) -> None:
    row = ProcessHeartbeat.objects.create(kind=kind, instance="box", pid=pid)
    ProcessHeartbeat.objects.filter(pk=row.pk).update(beat_at=Now() - timedelta(seconds=age_s))


def test_what_proves_itself_is_well(process: "subprocess.Popen[bytes]") -> None:
    heartbeat("web", process.pid, age_s=600)  # the machine has slept
    done = threading.Event()

    def live() -> None:
        while not done.wait(0.5):
            ProcessHeartbeat.objects.update(beats=F("beats") + 1, beat_at=Now())
        connections.close_all()

    living = threading.Thread(target=live)
    living.start()
    try:
        assert check() == (0, "")
    finally:
        done.set()
        living.join()
    assert process.poll() is None


def test_what_does_nothing_is_killed_and_it_is_written_down(process: "subprocess.Popen[bytes]") -> None:
    heartbeat("web", process.pid, age_s=60)
    code, words = check()
    # After the fewest looks: it had been silent for a minute before the first one.
    assert (code, f"for {FEWEST_LOOKS * POLL_SECONDS:.0f} s and was killed" in words) == (1, True)
    assert process.wait(60) < 0
    assert list(ProcessReplacement.objects.values_list("kind", "instance", "pid")) == [("web", "box", process.pid)]


def test_a_worker_that_gets_nothing_to_do_is_not_killed(process: "subprocess.Popen[bytes]") -> None:
    heartbeat("worker", process.pid, age_s=60)
    code, words = check("worker", redis_url="unix:///nonexistent")
    assert (code, process.poll()) == (1, None)
    assert "Redis" in words


def test_what_has_proved_nothing_yet_is_not_well_and_lives(process: "subprocess.Popen[bytes]") -> None:
    assert check()[0] == 1
    assert process.poll() is None
