"""Rows of the list that are kept: whatever a row shows is told apart, and drawing one asks for nothing."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from rest_framework.renderers import JSONRenderer

from apps.common import bulk, kept
from apps.common.actor import Actor
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.training import selectors
from apps.training.bulk_acts import RUNS
from apps.training.models import Run
from apps.training.serializers import RunSerializer
from apps.training.services import stop
from apps.training.tables import RunTable
from apps.workloads.choices import Status
from apps.workloads.selectors import STALE_AFTER
from tests.builders import World
from tests.kept_rows import every_change_is_seen, fresh
from tests.portal import kit
from tests.training.kit import submit, text


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    kept.forget()
    yield
    kept.forget()


@pytest.fixture
def rows(world: World, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """A run in each state that a list tells apart, as the list reads them; from then on the clock stands still."""
    submit(world, name="waits", tags=["baseline"])
    kit.start(world, submit(world, name="runs"))
    kit.fail(submit(world, name="failed"))
    stopped = submit(world, name="stopped")
    with acting(world.actor) as actor:
        stop(actor, stopped)
        found = list(selectors.with_last_seen(selectors.in_list(actor)))
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    return found


def table_of(rows: list[Run], actor: Actor) -> RunTable:
    request: Any = RequestFactory().get("/training/")
    request.actor = actor
    table = RunTable(rows, request=request, bulk=bulk.offered(request, RUNS))
    paged(request, table)
    return table


def body(rows: list[Run], actor: Actor) -> str:
    return table_of(rows, actor).body()


def test_a_change_of_any_value_is_seen(world: World, rows: list[Run]) -> None:
    assert every_change_is_seen(rows, lambda: body(rows, world.actor)) > 100


def test_a_change_of_any_value_is_seen_in_the_api(world: World, rows: list[Run]) -> None:
    def said() -> str:
        return JSONRenderer().render(RunSerializer(rows, many=True).data).decode()

    assert every_change_is_seen(rows, said) > 100
    in_english = said()
    with translation.override("zh-hans"):
        rows[0].workload.package.name_zh = "别的"
        assert said() != in_english


def test_a_change_of_state_reason_or_explanation_is_seen(world: World, rows: list[Run]) -> None:
    seen = {body(rows, world.actor)}
    workload = rows[0].workload
    for values in ({"status": Status.FAILED}, {"reason": "exit_code"}, {"reason_data": {"code": 127}}):
        vars(workload).update(values)
        html = body(rows, world.actor)
        assert html == fresh(lambda: body(rows, world.actor))
        seen.add(html)
    assert len(seen) >= 3


def test_it_is_kept_until_then(world: World, rows: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    first = body(rows, world.actor)
    monkeypatch.setattr(RunTable, "render_name", lambda *_: pytest.fail("drawn again"))
    assert body(rows, world.actor) == first


def test_a_machine_that_is_seen_again_and_again_changes_no_row(
    world: World, rows: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = next(run for run in rows if run.workload.status == Status.RUNNING)
    first = body(rows, world.actor)
    vars(running)["last_seen"] += timedelta(seconds=3)
    with monkeypatch.context() as patch:
        patch.setattr(RunTable, "render_name", lambda *_: pytest.fail("drawn again"))
        body(rows, world.actor)
    vars(running)["last_seen"] -= STALE_AFTER + timedelta(minutes=1)
    stale = body(rows, world.actor)
    assert stale != first
    assert "last seen" in stale


def test_the_time_of_a_running_one_goes_on(world: World, rows: list[Run]) -> None:
    running = next(run for run in rows if run.workload.status == Status.RUNNING)
    start = running.workload.started_at
    assert start
    before, drawn, after = timezone.now(), body(rows, world.actor), timezone.now()
    between = range(round((before - start).total_seconds()), round((after - start).total_seconds()) + 1)
    assert any(f'data-elapsed="{seconds}"' in drawn for seconds in between)
    passing = start + timedelta(seconds=75)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: passing)
        assert 'data-elapsed="75"' in body(rows, world.actor)


def test_who_may_not_submit_has_their_own_rows(world: World, rows: list[Run]) -> None:
    looker = replace(world.actor, permissions=world.actor.permissions - {Permission.TRAINING_SUBMIT})
    with_acts, without = body(rows, world.actor), body(rows, looker)
    assert "Clone and edit" in with_acts
    assert "Clone and edit" not in without
    assert without == fresh(lambda: body(rows, looker))


def test_each_reader_has_their_language_zone_and_day(
    world: World, rows: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [body(rows, world.actor)]
    with translation.override("zh-hans"):
        seen.append(body(rows, world.actor))
    with timezone.override("Asia/Tokyo"):
        seen.append(body(rows, world.actor))
    monkeypatch.setattr(timezone, "localdate", lambda *_: date(2031, 1, 1))
    monkeypatch.setattr(kept.timezone, "localtime", lambda *_: datetime(2031, 1, 1, tzinfo=UTC))
    body(rows, world.actor)
    assert len(kept._kept) == 4 * len(rows)
    assert len(set(seen)) == 3


def test_drawing_asks_the_database_for_nothing(world: World, rows: list[Run]) -> None:
    table = table_of(rows, world.actor)
    with CaptureQueriesContext(connection) as queries:
        table.body()
    assert [query["sql"] for query in queries] == []


def test_memory_is_bounded(world: World, rows: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 3)
    for _again in range(3):
        assert body(rows, world.actor) == fresh(lambda: body(rows, world.actor))
    assert len(kept._kept) <= 3 + len(rows)


def test_a_page_shows_at_once_what_somebody_else_changed(world: World, alice: Client) -> None:
    run = submit(world, name="before")
    assert "before" in text(alice.get("/training/"))
    with acting(world.actor):
        Run.objects.filter(pk=run.pk).update(name="after")
    page = text(alice.get("/training/"))
    assert "after" in page
    assert "before" not in page
