"""The notice and the mail about the end of a run say what it measured last."""

import math

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from apps.boards.choices import KIND as BOARD
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.composing import compose
from apps.notifications.models import Delivery, Notice
from apps.notifications.services import PRIVATE
from apps.notifications.words import words
from apps.tenants.models import User
from apps.tracking.collecting.headline import foremost
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.training.models import Run
from apps.workloads import announce
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.builders import World, platform, signed_in
from tests.training.kit import submit

pytestmark = pytest.mark.django_db
MARKUP = "<img src=x onerror=alert(1)>"


def ended(world: World, status: Status = Status.SUCCEEDED, reason: str = "", **metrics: float) -> Run:
    run = submit(world)
    with acting(platform()) as actor:
        if metrics:
            record(workload_id=run.workload_id, points=[Point(name, value, 1, 0.0) for name, value in metrics.items()])
        Workload.objects.filter(pk=run.workload_id).update(status=status, reason=reason, ended_at=db_now())
        run.workload.refresh_from_db()
        announce.status_changed(actor, run.workload, Status.RUNNING)
    return run


def notice(kind: str) -> Notice:
    with acting(platform()):
        found: Notice = Notice.objects.get(kind=kind)
    return found


def said(kind: str, language: str = "en") -> str:
    with translation.override(language):
        return words(notice(kind)).text


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (Status.SUCCEEDED, "", "run.finished"),
        (Status.FAILED, Reason.EXIT_CODE, "run.failed"),
        (Status.STOPPED, Reason.LONGEST, "run.stopped_by_rule"),
    ],
)
def test_each_end_says_the_last_metrics_in_each_language(world: World, status: Status, reason: str, kind: str) -> None:
    ended(world, status, reason, **{"train/loss": 0.1234567, "val/accuracy": 0.97, "lr": 0.001})
    assert said(kind).endswith("Its last metrics: train/loss 0.1235, val/accuracy 0.97.")
    assert "train/loss 0.1235" in said(kind, "zh-hans")
    assert "last metrics" not in said(kind, "zh-hans")


def test_without_metrics_nothing_is_said(world: World) -> None:
    ended(world)
    assert "metrics" not in said("run.finished")
    assert PRIVATE not in notice("run.finished").data


def test_other_work_costs_no_statement(world: World) -> None:
    run = submit(world)

    def series_asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            announce.tell_of_end(actor, run.workload)
        return sum("tracking_" in query["sql"] for query in queries)

    with acting(platform()) as actor:
        run.workload.status = Status.SUCCEEDED
        assert series_asked() == 1
        run.workload.kind = BOARD
        assert series_asked() == 0


def test_a_hostile_name_is_short_plain_and_escaped(world: World) -> None:
    ended(world, Status.SUCCEEDED, "", **{f"{MARKUP} loss": 0.5, "acc": math.nan, "x" * 200 + " accuracy": math.inf})
    text = said("run.finished")
    assert "x" * 41 not in text
    assert all(value in text for value in ("NaN", "0.5"))
    page = signed_in(world.alice).get("/notifications/").content.decode()
    assert "&lt;img src=x" in page
    assert MARKUP not in page
    with acting(platform()):
        User.objects.filter(pk=world.alice.pk).update(language="zh-hans")
        mail = compose(list(Delivery.objects.filter(kind="run.finished")))
    assert MARKUP not in mail.html
    assert MARKUP in mail.text


@pytest.mark.parametrize("recorded", [7, {"a": 1}, [7], [["loss"]], [["loss", None]], [[None, "x"]] * 9])
def test_whatever_is_recorded_there_are_words(recorded: object) -> None:
    found = words(Notice(kind="run.finished", data={"name": "digits", PRIVATE: {"last_metrics": recorded}}))
    assert found.title
    assert found.text.count("None") <= 3


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["a_loss", "b_loss", "c_loss", "d_loss", "accuracy"], ["a_loss", "accuracy", "b_loss"]),
        (["lr", "val/acc", "loss"], ["loss", "val/acc"]),
        (["lr", "tokens"], ["lr", "tokens"]),
        ([], []),
    ],
)
def test_a_loss_and_another_result_come_first(names: list[str], chosen: list[str]) -> None:
    assert foremost(names, 3) == chosen
