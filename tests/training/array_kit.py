"""Arrays for tests."""

from typing import Any

from django.utils import timezone

from apps.common.scoping import acting
from apps.training.arrays import selectors, starting
from apps.training.arrays import services as arrays
from apps.training.arrays.lines import Shape, read_lines
from apps.training.models import Run, RunArray
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.training import kit

THREE = "--lr 0.1\n--lr 0.2\n\n--lr 0.3\n"


def start(world: World, text: str = THREE, at_once: int | None = None, **changes: Any) -> RunArray:
    with acting(world.actor):
        lines = read_lines(text, Shape.WORDS, ())
        return arrays.start(world.actor, kit.request_for(world, **changes), lines, at_once=at_once)


def advance() -> int:
    with acting(platform()):
        RunArray.objects.update(next_try_at=timezone.now())
        return starting.start_due()


def runs() -> list[Run]:
    with acting(platform()):
        return list(Run.objects.select_related("workload").order_by("version"))


def lines_of(array: RunArray) -> list[selectors.LineState]:
    with acting(platform()):
        return selectors.lines(array)


def put(run: Run, status: Status) -> None:
    with acting(platform()):
        now = timezone.now()
        Workload.objects.filter(pk=run.workload_id).update(status=status, status_since=now, ended_at=now)
