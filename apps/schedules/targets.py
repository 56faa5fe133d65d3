"""What a schedule can start: each kind brings its rules in its own app; `settings.SCHEDULE_TARGETS` names them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.utils.functional import Promise
from django.utils.module_loading import import_string

from apps.common.actor import Actor

RUN = "run"
"""A training run, started again as its next version. A schedule of one keeps it by a foreign key."""


@dataclass(frozen=True, slots=True)
class Described:
    """`status`, `status_label`: of something that was started; empty for what is started again and again."""

    name: str
    url: str
    status: str = ""
    status_label: str = ""


DescribeStarted: TypeAlias = Callable[[Sequence[UUID]], Mapping[UUID, Described]]


@dataclass(frozen=True, slots=True)
class ScheduleTarget:
    """`find`: raises `NotFound` for what the actor does not see. `start`: under a key, which starts it once; it returns
    the id of what was started. `living`: of these, those that have not ended. `stop`: again does no harm.
    """

    name: str
    label: str | Promise
    find: Callable[[Actor, UUID], Described]
    start: Callable[[Actor, UUID, str], UUID]
    living: Callable[[Sequence[UUID]], list[UUID]]
    stop: Callable[[Actor, UUID], None]
    describe_started: DescribeStarted


@cache
def targets() -> Mapping[str, ScheduleTarget]:
    found: list[ScheduleTarget] = [import_string(path) for path in settings.SCHEDULE_TARGETS]
    return {each.name: each for each in found}


def target_of(name: str) -> ScheduleTarget:
    return targets()[name]
