"""What a pipeline starts, in which order, and what becomes of it."""

from typing import Any
from uuid import uuid4

import pytest

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.pipelines import starting
from apps.pipelines.choices import Cause, EndReason, RunStatus, StepStatus, Why
from apps.pipelines.models import PipelineRun
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.tenants.models import Membership
from apps.training import deletion
from apps.training.inputs import RunInput, inputs_of
from apps.workloads.choices import Reason, Status
from tests.builders import platform
from tests.pipelines.kit import Bench

pytestmark = pytest.mark.django_db


def test_steps_run_one_after_the_other_and_the_last_reads_what_the_first_wrote(bench: Bench) -> None:
    row = bench.run_of(bench.step("prepare"), bench.step("train", "prepare", inputs=("prepare",)))
    row = bench.turn(row)
    (prepare,) = bench.running(row)
    assert (prepare.step, bench.statuses(row)["train"]) == ("prepare", StepStatus.WAITING)
    bench.end(prepare)
    row = bench.turn(row)
    (train,) = bench.running(row)
    assert train.run is not None
    assert prepare.run_id is not None
    spec = train.run.workload.frozen_spec
    (mount,) = [each for each in spec.mounts if each.target.startswith("/workspace/inputs/")]
    assert (mount.target, mount.read_only) == ("/workspace/inputs/prepare", True)
    assert spec.env["PLSTACK_INPUTS"] == "/workspace/inputs"
    with acting(bench.world.actor):
        assert inputs_of(spec.mounts) == (RunInput("prepare", prepare.run_id),)
    bench.end(train)
    row = bench.turn(row)
    assert (row.status, row.reason) == (RunStatus.SUCCEEDED, "")
    with acting(platform()):
        assert Notice.objects.filter(user=bench.world.alice, kind="pipeline.ended").count() == 1
        assert not Notice.objects.filter(kind__startswith="run.").exists()


def test_parameters_stand_in_the_places_of_the_templates_rows(bench: Bench) -> None:
    step = bench.step(
        "train", arguments=(("--lr", "${lr}"), ("model.depth=", "${depth}")), environment=(("RATE", "r-${lr}"),)
    )
    pipeline = bench.create(step, parameters={"lr": "0.1", "depth": "4"})
    row = bench.turn(bench.start(pipeline, parameters={"lr": "0.3 ${depth}"}))
    (train,) = bench.running(row)
    assert train.run is not None
    arguments = [["--lr", "0.3 ${depth}"], ["--epochs", "3"], ["model.depth=4", ""]]
    assert (train.run.arguments, train.run.environment) == (arguments, [["RATE", "r-0.3 ${depth}"]])
    assert (train.run.name, train.run.version, train.run.parent_id) == ("nightly 1 train", 1, None)
    with pytest.raises(Invalid) as refused:
        bench.start(pipeline, parameters={"typo": "1"})
    assert "parameters.typo" in refused.value.fields


@pytest.mark.parametrize(
    ("said", "status", "why"),
    [
        (0.95, StepStatus.RUNNING, ""),
        (0.5, StepStatus.SKIPPED, Why.CONDITION),
        (None, StepStatus.FAILED, Why.UNMEASURED),
    ],
)
def test_a_metric_decides_whether_the_next_step_starts(bench: Bench, said: float | None, status: str, why: str) -> None:
    row = bench.run_of(bench.step("evaluate"), bench.step("register", "evaluate: accuracy >= 0.9"))
    row = bench.turn(row)
    (evaluate,) = bench.running(row)
    if said is not None:
        bench.say(evaluate, "accuracy", said)
    bench.end(evaluate)
    row = bench.turn(row)
    register = bench.last(row)["register"]
    assert (register.status, register.why) == (status, why)
    if why:
        assert register.detail == "evaluate: accuracy >= 0.9"
        assert row.status == (RunStatus.SUCCEEDED if said else RunStatus.FAILED)


def test_a_failed_step_is_tried_again_until_its_retries_are_used_up(bench: Bench) -> None:
    row = bench.run_of(bench.step("train", retries=2), bench.step("tell", "train: failed"), bench.step("use", "train"))
    row = bench.go(row, failing=["train"])
    assert [(each.attempt, each.status) for each in bench.attempts(row) if each.step == "train"] == [
        (number, StepStatus.FAILED) for number in (1, 2, 3)
    ]
    assert bench.statuses(row) == {"train": "failed", "tell": "succeeded", "use": "skipped"}
    assert row.status == RunStatus.FAILED


def test_a_pause_before_the_next_attempt_is_kept(bench: Bench) -> None:
    row = bench.run_of(bench.step("train", retries=1, pause_s=600))
    row = bench.turn(row)
    bench.end(bench.running(row)[0], Status.FAILED, Reason.EXIT_CODE)
    row = bench.turn(row)
    assert (bench.last(row)["train"].attempt, bench.statuses(row)["train"]) == (2, StepStatus.WAITING)
    assert len(bench.runs_of(row)) == 1


def test_a_step_that_may_fail_fails_alone(bench: Bench) -> None:
    row = bench.go(bench.run_of(bench.step("lint", may_fail=True), bench.step("train")), failing=["lint"])
    assert row.status == RunStatus.SUCCEEDED


def test_a_failed_run_goes_on_from_the_step_that_failed(bench: Bench) -> None:
    steps = [bench.step("a"), bench.step("b", "a"), bench.step("c", "b")]
    row = bench.go(bench.run_of(*steps), failing=["b"])
    assert bench.statuses(row) == {"a": "succeeded", "b": "failed", "c": "skipped"}
    with acting(actor := bench.world.actor):
        starting.run_again(actor, row)
    row = bench.go(row)
    assert row.status == RunStatus.SUCCEEDED
    assert {name: each.attempt for name, each in bench.last(row).items()} == {"a": 1, "b": 2, "c": 2}
    with acting(actor):
        with pytest.raises(Conflict):
            starting.run_again(actor, row)
        starting.run_again(actor, row, step="b")
    assert {name: each.attempt for name, each in bench.last(bench.go(row)).items()} == {"a": 1, "b": 3, "c": 3}


def test_stopping_ends_what_runs_and_leaves_what_has_ended(bench: Bench) -> None:
    row = bench.run_of(bench.step("a"), bench.step("b", "a", retries=3), bench.step("c", "b"))
    row = bench.turn(row)
    bench.end(bench.running(row)[0])
    row = bench.turn(row)
    with acting(actor := bench.world.actor):
        starting.stop(actor, row)
    row = bench.turn(row)
    assert (row.status, row.reason) == (RunStatus.STOPPED, EndReason.BY_PERSON)
    assert bench.statuses(row) == {"a": "succeeded", "b": "stopped", "c": "stopped"}
    assert not any(run.workload.is_live for run in bench.runs_of(row))
    with acting(platform()):
        assert not Notice.objects.filter(kind="pipeline.ended").exists()


def test_quota_is_waited_for_and_a_lost_right_ends_it(bench: Bench) -> None:
    row = bench.run_of(bench.step("a"))
    with acting(platform()) as staff:
        organisation = bench.world.organisation.pk
        quotas.set_limit(staff, organisation_id=organisation, resource=Resource.RUNS, limit=0)
    row = bench.turn(row)
    assert (row.hurdle, bench.statuses(row)["a"]) == ("quota", StepStatus.WAITING)
    with acting(platform()):
        Membership.objects.filter(user=bench.world.alice).delete()
    row = bench.turn(row)
    assert (row.status, row.reason) == (RunStatus.FAILED, EndReason.OWNER_LOST)


def test_a_budget_is_kept_by_caps_and_ends_what_it_does_not_pay_for(bench: Bench) -> None:
    row = bench.run_of(bench.step("a"), bench.step("b"), budget_fen=1)
    row = bench.turn(row)
    assert (row.status, row.reason) == (RunStatus.STOPPED, EndReason.BUDGET)
    assert not bench.runs_of(row)


def test_the_same_key_starts_once(bench: Bench) -> None:
    pipeline = bench.create(bench.step("a"))
    key: dict[str, Any] = {"cause": Cause.HOOK, "key": uuid4().hex}
    assert bench.start(pipeline, **key).pk == bench.start(pipeline, **key).pk
    with acting(platform()):
        assert PipelineRun.objects.count() == 1


def test_what_a_pipeline_needs_is_not_deleted(bench: Bench) -> None:
    bench.create(bench.step("a"))
    with acting(actor := bench.world.actor), pytest.raises(Conflict, match="nightly"):
        deletion.delete(actor, bench.template)
