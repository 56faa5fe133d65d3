"""Work that really runs with a secret, and processes of the platform that die on the way there."""

import base64
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from apps.common import sealing
from apps.common.scoping import acting
from apps.secrets.choosing import ChosenSecret
from apps.secrets.models import Secret
from apps.training.models import Run
from apps.workloads import faults, start_rights
from apps.workloads import selectors as workload_reads
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Handle, LaunchRequest
from apps.workloads.models import Attempt
from apps.workloads.nodes import driver_named
from apps.workloads.programs import members_of
from apps.workloads.reconcile import attempts
from apps.workloads.reconcile.attempts import claim_due
from apps.workloads.reconcile.launch import launch_request
from tests.builders import World, platform, reload
from tests.secrets.making import VALUE, make_secret, placed, submit, take_away
from tests.workloads.loops import make_due, tick, until

pytestmark = [pytest.mark.programs, pytest.mark.django_db]

TELLS = """
import base64, os, sys, time
token = os.environ["HF_TOKEN"]
print("token", token, base64.b64encode(token.encode()).decode(), flush=True)
raise SystemExit(open("/run/secrets/hub").read() if os.path.exists("/run/secrets/hub") else token)
"""
GIVEN = """
import os
token, rank = os.environ["HF_TOKEN"], os.environ["PLSTACK_RANK"]
print(f"rank {rank} has {token} twice:", open(os.environ["PLSTACK_SECRETS"] + "/hub").read() == token)
"""
WAITS = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
FORMS = (VALUE, base64.b64encode(VALUE.encode()).decode())


def everything_kept() -> str:
    """Every row of every table, as text."""
    found = []
    for model in apps.get_models():
        found += [str(row) for row in model._base_manager.values()]
    return "\n".join(found)


def ended(workload: Any) -> bool:
    return not workload.is_live


def given(world: World, text: str) -> tuple[Run, Any]:
    secret = make_secret(world)
    return submit(world, ChosenSecret(secret.pk), ChosenSecret(secret.pk, file="hub"), text=text), secret


def test_no_log_no_row_and_no_file_holds_what_the_program_printed(world: World, alice: Client, home: Path) -> None:
    run, _secret = given(world, TELLS)
    with acting(platform()):
        workload = until(run.workload, ended)
        assert (workload.status, workload.reason) == (Status.FAILED, Reason.EXIT_CODE)
        rows = everything_kept()
        attempt = Attempt.objects.get(workload=workload)
    log = alice.get(f"/api/v1/training/runs/{run.pk}/log/").content + alice.get(f"/training/{run.pk}/").content
    assert b"token *** ***" in log
    folder = home / "runs" / str(attempt.pk)
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"token *** ***" in files
    assert "***" in attempt.exit_detail
    for form in FORMS:
        assert form not in rows
        assert form.encode() not in log
        assert form.encode() not in files


@pytest.mark.parametrize("readable", [True, False])
def test_a_secret_that_goes_after_the_last_question_starts_nothing(
    world: World, readable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that cannot be read any more is the platform's matter; one that was deleted is its owner's."""
    run, secret = given(world, WAITS)
    attempt = placed(run.workload)
    asked = start_rights.refusals

    def goes_then(workloads: Any) -> Any:
        found = asked(workloads)
        if readable:
            Secret.objects.filter(pk=secret.pk).delete()
        else:
            monkeypatch.setattr(sealing, "_keys", lambda: {1: b"x" * 32})
        return found

    monkeypatch.setattr(start_rights, "refusals", goes_then)
    with acting(platform()):
        make_due()
        attempts.reconcile_due(platform())
        workload = reload(run.workload)
        ends = (Status.STOPPED, Reason.SECRET_LOST) if readable else (Status.FAILED, Reason.REFUSED)
        assert (workload.status, workload.reason) == ends
        if not readable:
            assert "HF_TOKEN is gone, cannot be read" in faults.advise(workload).text
        attempt.refresh_from_db()
        assert (attempt.started_at, attempt.handle) == (None, None)
        assert str(attempt.pk) not in driver_named("local").known()


@pytest.mark.parametrize("launched", [True, False])
def test_a_claimant_that_died_around_the_launch_and_a_secret_that_is_deleted_then(world: World, launched: bool) -> None:
    """What it may have launched is adopted and stopped; where nothing was launched, nothing starts."""
    run, secret = given(world, WAITS)
    attempt = placed(run.workload)
    driver: Any = driver_named("local")
    with acting(platform()):
        make_due()
        [claim] = claim_due(10)
        if launched:
            driver.launch(launch_request(claim.attempt))
        Attempt.objects.filter(pk=attempt.pk).update(lease_until=None)  # its lease has run out
    take_away(world, secret)
    with acting(platform()):
        workload = until(run.workload, ended)
        assert workload.status == Status.STOPPED, workload.reason_data
        assert workload.reason == Reason.SECRET_LOST
        assert (str(attempt.pk) in driver.known()) is launched
        tick()
        assert reload(workload).status == Status.STOPPED


class TestGangs:
    def test_every_member_is_given_the_secrets_and_its_log_masked(self, world: World) -> None:
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk), ChosenSecret(secret.pk, file="hub"), text=GIVEN, members=2)
        with acting(platform()):
            workload = until(run.workload, ended)
            attempt = Attempt.objects.get(workload=workload)
            assert workload.status == Status.SUCCEEDED, workload.reason_data
            logs = [workload_reads.log_chunk(member).data.decode() for member in members_of(attempt)]
        assert [log.splitlines()[-1] for log in logs] == ["rank 0 has *** twice: True", "rank 1 has *** twice: True"]

    def test_members_that_are_there_go_before_a_withheld_secret_ends_it(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is deleted between the launches of the first and of the second member."""
        secret = make_secret(world)
        run = submit(world, ChosenSecret(secret.pk), text=GIVEN, members=2)
        driver = type(driver_named("local"))
        launch = driver.launch

        def then_deleted(self: Any, request: LaunchRequest) -> Handle:
            handle: Handle = launch(self, request)
            take_away(world, secret)
            return handle

        placed(run.workload)
        with acting(platform()), monkeypatch.context() as patched:
            patched.setattr(driver, "launch", then_deleted)
            workload = until(run.workload, ended)
            first, second = members_of(Attempt.objects.get(workload=workload))
            assert (workload.status, workload.reason) == (Status.STOPPED, Reason.SECRET_LOST)
            assert second.handle is None
            seen = driver_named("local").observe(Handle.from_dict(first.handle or {}))
        assert seen.phase.is_final
        assert seen.ran_for_s is None
