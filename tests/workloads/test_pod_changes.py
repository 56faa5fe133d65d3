"""A pod's change makes its attempt due at once."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads import nudge, pod_changes
from apps.workloads.models import Attempt, Workload
from apps.workloads.pod_changes import Gathering, look_now
from tests.builders import World, make_world, platform, submit_workload
from tests.drivers.kit import eventually
from tests.workloads.test_states import put_on_node

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=1)


@pytest.fixture
def world() -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.fixture
def nudges(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    found: list[None] = []
    monkeypatch.setattr(nudge, "reconcile", lambda: found.append(None))
    return found


def placed(world: World) -> Attempt:
    workload: Workload = submit_workload(world)
    attempt = put_on_node(world, workload)
    Attempt.objects.filter(pk=attempt.pk).update(next_check_at=db_now() + LATER)
    return attempt


def is_due(attempt: Attempt) -> bool:
    return Attempt.objects.get(pk=attempt.pk).next_check_at <= db_now()


def test_it_is_looked_at_now_and_no_other_is(world: World, nudges: list[None]) -> None:
    changed, other = placed(world), placed(world)
    assert look_now([str(changed.pk), str(uuid4())]) == 1
    assert (is_due(changed), is_due(other)) == (True, False)
    assert len(nudges) == 1


def test_what_has_ended_or_is_unknown_wakes_nobody(world: World, nudges: list[None]) -> None:
    ended = placed(world)
    Attempt.objects.filter(pk=ended.pk).update(ended_at=db_now())
    assert look_now([str(ended.pk), str(uuid4())]) == 0
    assert nudges == []


def test_what_comes_within_a_moment_is_passed_on_together(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[set[str]] = []
    monkeypatch.setattr(pod_changes, "look_now", lambda refs: passed.append(set(refs)))
    monkeypatch.setattr(pod_changes, "close_old_connections", lambda: None)
    monkeypatch.setattr(pod_changes, "GATHER_S", 0.3)
    gathering = Gathering()
    for ref in ("a", "b", "a"):
        gathering.add([ref])
    eventually(lambda: passed, bool)
    gathering.add(["c"])
    eventually(lambda: passed, lambda found: len(found) == 2)
    assert passed == [{"a", "b"}, {"c"}]
