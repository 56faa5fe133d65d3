"""A program in its sandbox logs in two lines, by the door that leads to this one address."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.tracking.run_tokens import PREFIX
from apps.workloads import nodes
from apps.workloads.choices import Status
from apps.workloads.gateway import tracking_door
from apps.workloads.gateway.proxy import Proxy
from apps.workloads.models import Attempt
from tests.builders import make_world, platform
from tests.tracking.kit import info, kept
from tests.training.kit import submit
from tests.workloads.loops import until

pytestmark = [pytest.mark.programs, pytest.mark.django_db(transaction=True)]

PROGRAM = """
import os, urllib.error, urllib.request
from plstack_metrics import log

for step in range(2500):
    log(loss=1 / (step + 1), step=step)
log({"val/acc": float("nan")})
log(wrong="no number")
print("token", os.environ["MLFLOW_TRACKING_TOKEN"], os.environ["MLFLOW_RUN_ID"])
try:
    urllib.request.urlopen(os.environ["PLSTACK_TRACKING_URI"] + "/accounts/login/")
except urllib.error.HTTPError as error:
    print("door:", error.code)
"""


@pytest.fixture
def home(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    settings.PLSTACK_HOME = tmp_path
    nodes.local_driver.cache_clear()
    yield tmp_path
    nodes.local_driver.cache_clear()


@pytest.fixture
def door(home: Path, live_server: Any, settings: LazySettings) -> Iterator[None]:
    settings.TRACKING_TARGET = live_server.url.partition("://")[2]
    loop = asyncio.new_event_loop()
    (path,) = nodes.tracking_sockets()
    serving = loop.create_task(Proxy(tracking_door.target(), path, tracking_door.parse).serve())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield
    loop.call_soon_threadsafe(serving.cancel)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.usefixtures("door")
def test_a_program_logs_in_two_lines_and_reaches_nothing_else(home: Path) -> None:
    with acting(platform()):
        world = make_world()
    run = submit(world, text=PROGRAM)
    with acting(platform()):
        workload = until(run.workload, lambda each: not each.is_live)
        attempt = Attempt.objects.get(workload=workload)
    log = (home / "runs" / str(attempt.pk) / "log").read_text()
    assert workload.status == Status.SUCCEEDED, log
    found = kept(run.workload_id)
    assert found.steps.tolist() == list(range(2500))
    assert info(run.workload_id, "val/acc").odd_count == 1
    assert f"token *** {run.workload_id.hex}" in log
    assert PREFIX not in log
    assert "door: 403" in log
    assert log.count("plstack_metrics:") == 1  # of the wrong value
