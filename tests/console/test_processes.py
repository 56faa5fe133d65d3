"""The platform's own processes: what works, what does nothing, what was replaced and that the staff are told."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from apps.common.actor import system_actor
from apps.common.models import ProcessHeartbeat, ProcessReplacement
from apps.common.scoping import acting
from apps.console.hardware.processes.services import notify_replacements
from apps.notifications.models import Notice
from tests.builders import World
from tests.console.kit import page, text_of

API = "/api/v1/console/processes/"


@pytest.fixture(autouse=True)
def running(db: None) -> None:
    """All that is needed works, but for the scheduler, which was never heard of, and a worker that does nothing."""
    for kind in ("web", "gateway", "beat", "files", "ssh"):
        ProcessHeartbeat.objects.create(kind=kind, instance="here", pid=1)
    for instance, seconds in (("here", 0), ("there", 40)):
        row = ProcessHeartbeat.objects.create(kind="worker", instance=instance, pid=1)
        ProcessHeartbeat.objects.filter(pk=row.pk).update(beat_at=Now() - timedelta(seconds=seconds))


def replaced(kind: str = "worker") -> ProcessReplacement:
    row: ProcessReplacement = ProcessReplacement.objects.create(kind=kind, instance="here", pid=7, silent_s=18)
    return row


def test_the_page_marks_what_does_nothing_and_what_is_missing(ops: Client, world: World) -> None:
    text = text_of(ops.get(page("processes")))
    assert text.count("Not responding") == 1
    assert text.count("Never reported") == 1
    assert "Not everything works" in text
    assert "Task worker" in text
    assert "Nothing had to be replaced." in text
    replaced()
    assert "Nothing had to be replaced." not in text_of(ops.get(page("processes")))


def test_where_all_work_nothing_is_said(ops: Client, world: World) -> None:
    ProcessHeartbeat.objects.filter(instance="there").delete()
    ProcessHeartbeat.objects.create(kind="scheduler", instance="here", pid=1)
    text = text_of(ops.get(page("processes")))
    assert "Not everything works" not in text
    assert "Not responding" not in text


def test_the_api_says_the_same(ops: Client, world: World) -> None:
    told: list[dict[str, Any]] = ops.get(API).json()
    silent = {(one["kind"], one["host"]) for one in told if one["silent"]}
    assert silent == {("worker", "there"), ("scheduler", "")}
    assert len(told) == 8
    replaced()
    (row,) = ops.get(f"{API}replacements/").json()["results"]
    assert (row["kind"], row["host"], row["silent_s"]) == ("worker", "here", 18.0)


def test_finance_and_members_do_not_see_it(finance: Client, alice: Client, world: World) -> None:
    for client in (finance, alice):
        assert client.get(page("processes")).status_code in {302, 403, 404}
        assert client.get(API).status_code in {403, 404}


def test_the_staff_are_told_of_each_replacement_once_and_not_every_minute(ops: Client, world: World) -> None:
    replaced()
    replaced()
    replaced("web")
    for expected in (3, 0):
        with acting(system_actor()) as actor:
            assert notify_replacements(actor) == expected
    with acting(system_actor()):
        told = list(Notice.objects.filter(kind="process.replaced").values_list("user", "data__kind"))
    assert len(told) == len(set(told))
    assert {kind for _user, kind in told} == {"worker", "web"}
    assert "was replaced" in text_of(ops.get("/console/notices/"))


def test_the_second_of_a_kind_is_called_by_its_number(ops: Client, world: World) -> None:
    ProcessHeartbeat.objects.create(kind="web-2", instance="there", pid=2)
    assert "Pages and API 2" in text_of(ops.get(page("processes")))
