"""Runs whose log and output the tests write themselves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.clock import db_now
from apps.common.errors import Unavailable
from apps.common.scoping import acting
from apps.storage.services import root_of
from apps.tracking.collecting import turn
from apps.tracking.collecting.loop import collect_due
from apps.tracking.collecting.models import Collection
from apps.tracking.models import Series
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.drivers.base import LogChunk, LogTime
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_world, platform
from tests.training.kit import submit


@dataclass
class Logs:
    """What each attempt has printed, by its number; `complete` once it has ended."""

    texts: dict[int, bytes] = field(default_factory=dict)
    complete: set[int] = field(default_factory=set)
    unseen: bool = False
    reads: int = 0

    def chunk(self, program: Any, *, offset: int = 0, limit: int = 65536) -> LogChunk:
        if self.unseen:
            raise Unavailable("not now")
        self.reads += 1
        whole = self.texts.get(program.number, b"")
        data = whole[offset : offset + limit]
        after = offset + len(data)
        complete = program.number in self.complete and after == len(whole)
        return LogChunk(data, offset, after, complete, (LogTime(0, 1_700_000_000_000),), len(whole))


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Logs:
    found = Logs()
    monkeypatch.setattr(turn, "log_chunk", found.chunk)
    return found


@pytest.fixture
def world(tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        found = make_world()
    return found


@dataclass
class Watched:
    """A run on a machine."""

    run: Run
    logs: Logs
    world: World

    def attempt(self, number: int) -> None:
        """It runs; an attempt before this one has ended."""
        with acting(platform()):
            now = db_now()
            Attempt.objects.filter(workload=self.run.workload_id).update(ended_at=now)
            Attempt.objects.create(
                organisation=self.world.organisation,
                workload=self.run.workload,
                number=number,
                node=self.world.node,
                handle={"driver": "local", "node": "x", "ref": str(number)},
                placed_at=now,
                started_at=now,
            )
            Workload.objects.filter(pk=self.run.workload_id).update(status=Status.RUNNING, attempt_number=number)

    @property
    def output(self) -> Path:
        return root_of(self.run.output)

    def write(self, path: str, data: bytes) -> None:
        place = self.output / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    def end(self) -> None:
        self.logs.complete |= set(self.logs.texts)
        with acting(platform()):
            rows = Workload.objects.filter(pk=self.run.workload_id)
            rows.update(status=Status.SUCCEEDED, ended_at=self.run.created_at)

    def turn(self) -> None:
        """One turn of the loop, whenever the next one would be due."""
        with acting(platform()):
            Collection.objects.update(next_at=self.run.created_at, walked_at=None)
            collect_due()

    def points(self) -> dict[str, tuple[int, float | None, int | None]]:
        """Of each series: how many, the last value, the last step."""
        with acting(platform()):
            rows = Series.objects.filter(run_id=self.run.workload_id).order_by("name")
            return {row.name: (row.count, row.last_value, row.last_step) for row in rows}

    @property
    def collection(self) -> Collection:
        with acting(platform()):
            return Collection.objects.get(pk=self.run.workload_id)


@pytest.fixture
def watch(world: World, logs: Logs) -> Callable[..., Watched]:
    def start(**changes: Any) -> Watched:
        run = submit(world, **changes)
        found = Watched(run, logs, world)
        found.attempt(1)
        return found

    return start
