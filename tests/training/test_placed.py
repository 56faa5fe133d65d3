"""Runs that machines have had, as their pages and the API show them."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.common.scoping import acting
from apps.training.models import Run
from apps.workloads.choices import TERMINAL
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import World, platform
from tests.training.kit import submit, text, url
from tests.workloads.loops import until

pytestmark = pytest.mark.programs

WRITES = """
import os, time
print("working", flush=True)
time.sleep(2.5)  # long enough to be measured
open(os.environ["PLSTACK_OUTPUT"] + "/model.bin", "wb").write(b"12345")
"""


def run_to_its_end(world: World, program: str) -> Run:
    run = submit(world, text=program)
    with acting(platform()):
        until(run.workload, lambda workload: workload.status in TERMINAL, timeout_s=120)
    return run


@pytest.fixture
def finished(world: World) -> Run:
    return run_to_its_end(world, WRITES)


def test_a_finished_run_shows_what_it_wrote_said_and_cost(finished: Run, alice: Client) -> None:
    page = text(alice.get(url("detail", finished)))
    assert "Finished" in page
    assert "model.bin" in page
    assert "¥0.00" in page  # a second at 0.1 fen is nothing yet, to four places
    assert alice.get(url("part", finished, "now")).status_code == 286
    assert b"".join(alice.get(url("log", finished))).endswith(b"\nworking\n")  # after the platform's own notes
    download = alice.get(f"{url('output', finished)}?path=model.bin")
    assert b"".join(download) == b"12345"
    assert alice.get(url("metrics", finished, "cpu")).json()[0]["points"] != []
    events = text(alice.get(f"{url('detail', finished)}?tab=events"))
    assert "Finished: the program ended without an error" in events
    assert "Ready: the program runs and charging starts" in events


def test_the_api_reads_the_log_from_any_byte(finished: Run, alice: Client) -> None:
    log = f"/api/v1/training/runs/{finished.pk}/log/"
    whole = alice.get(log).content
    part = alice.get(f"{log}?offset=3&limit=2")
    assert (part.content, part.headers["X-Next-Offset"], part.headers["X-Complete"]) == (whole[3:5], "5", "false")
    rest = alice.get(f"{log}?offset=5")
    assert (rest.content, rest.headers["X-Complete"]) == (whole[5:], "true")
    assert alice.get(f"{log}?attempt=2").status_code == 404
    seconds = float(alice.get(f"/api/v1/training/runs/{finished.pk}/cost/").json()["seconds"])
    with acting(platform()):
        workload = Workload.objects.get(pk=finished.workload_id)
    assert workload.ended_at is not None
    assert 1 <= seconds < (workload.ended_at - workload.queued_at).total_seconds()


def test_a_failed_run_says_whose_fault_it_was_with_its_last_words(world: World, alice: Client) -> None:
    run = run_to_its_end(world, "print('the reason', flush=True)\nraise SystemExit(3)\n")
    page = text(alice.get(url("detail", run)))
    assert "Failed: the program ended with exit code 3" in page
    assert "The cause is in the program." in page
    assert "the reason</pre>" in page
    assert alice.get(f"/api/v1/training/runs/{run.pk}/").json()["failure"] == (
        "Failed: the program ended with exit code 3"
    )


def test_a_run_on_a_silent_machine_is_called_unknown_with_its_last_sign_of_life(world: World, alice: Client) -> None:
    run = submit(world)
    with acting(platform()):
        assert run_pass(platform()) == 1
        handle = {"driver": "local", "node": world.node.name, "ref": "gone"}
        Attempt.objects.update(handle=handle, seen_at=timezone.now() - timedelta(minutes=5))
    for page in (text(alice.get("/training/")), text(alice.get(url("detail", run)))):
        assert "pl-state is-stale" in page
        assert "last seen" in page
    assert "has not been heard from" in text(alice.get(url("part", run, "now")))
