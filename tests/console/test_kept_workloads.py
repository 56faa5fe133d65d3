"""Rows of the list of all workloads that are kept."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.common import kept
from apps.common.pages import paged
from apps.common.scoping import acting
from apps.console.work.workloads import selectors
from apps.console.work.workloads.listing import WorkloadTable
from apps.workloads.models import Workload
from tests.builders import World, make_world, platform
from tests.kept_rows import every_change_is_seen
from tests.portal import kit
from tests.training.kit import submit


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    kept.forget()
    yield
    kept.forget()


@pytest.fixture
def rows(db: None, monkeypatch: pytest.MonkeyPatch) -> list[Workload]:
    """One that waits, one that runs and one that failed; from then on the clock stands still."""
    with acting(platform()):
        world: World = make_world()
    submit(world, name="waits")
    kit.start(world, submit(world, name="runs"))
    kit.fail(submit(world, name="failed"))
    with acting(platform()) as staff:
        found = list(selectors.workloads(staff))
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    return found


def body(rows: list[Workload]) -> str:
    request: Any = RequestFactory().get("/console/workloads/")
    table = WorkloadTable(rows, request=request)
    paged(request, table)
    return table.body()


def test_a_change_of_any_value_is_seen(rows: list[Workload]) -> None:
    assert every_change_is_seen(rows, lambda: body(rows)) > 60


def test_a_machine_that_is_found_is_seen(rows: list[Workload]) -> None:
    assert "elsewhere" not in body(rows)
    vars(rows[0])["node_name"] = "elsewhere"
    assert "elsewhere" in body(rows)


def test_drawing_asks_the_database_for_nothing(rows: list[Workload]) -> None:
    with CaptureQueriesContext(connection) as queries:
        body(rows)
    assert [query["sql"] for query in queries] == []
