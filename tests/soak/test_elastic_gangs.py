"""Elastic gangs in the soak: whatever machines are lost, they run within their range and are charged for what ran."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import scheduler
from apps.billing import services as billing
from apps.common.scoping import acting
from apps.workloads import requested, states
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.programs import members_of
from apps.workloads.reconcile.launch import launch_request
from benchmarks.soak.plan import Plan
from benchmarks.soak.world import platform
from tests.soak.conftest import Soaking
from tests.soak.test_gangs import Scene

Patch = pytest.MonkeyPatch
PAIR = Plan(small=True, machines=2, people=2, deaths_a_day=0)


def lose_machines(scene: Scene, chance: random.Random, times: int) -> None:
    """One after the other, each for a while; sometimes the next before the one before is back."""
    for _turn in range(times):
        scene.wait(minutes=chance.uniform(3, 50))
        scene.soak.chance.choice = chance.choice  # type: ignore[method-assign]
        scene.soak.chance.uniform = lambda low, high: chance.uniform(0.1, 1.0)  # type: ignore[method-assign]
        scene.soak.chance.random = lambda: 1.0  # type: ignore[method-assign]  # it does not reboot
        scene.soak._fail(scene.world)


def attempts_of(workload: Workload) -> list[Attempt]:
    return list(Attempt.objects.select_related("workload", "node").filter(workload=workload).order_by("number"))


@pytest.mark.parametrize(("least", "seed"), [(1, 1), (2, 2)])
def test_it_always_runs_within_its_range_and_finds_what_was_saved(soaking: Soaking, seed: int, least: int) -> None:
    scene, chance = Scene(soaking(PAIR)), random.Random(seed)
    workload = scene.submit(3 * 3600, least_members=least)
    lose_machines(scene, chance, times=4)
    scene.wait(hours=8)
    assert scene.soak.violations == []
    with acting(platform()):
        workload.refresh_from_db()
        attempts = attempts_of(workload)
        assert workload.status == Status.SUCCEEDED, (workload.status, workload.reason)
        sizes = [attempt.member_count for attempt in attempts]
        assert all(least <= size <= 3 for size in sizes)
        written = {
            tuple(mount for mount in launch_request(attempt, members_of(attempt)).mounts if not mount.read_only)
            for attempt in attempts
        }
        assert len(written) == 1, "each attempt writes where those before it saved"


def charge_for_all(patch: Patch) -> None:
    """Members that do not run are charged, too."""
    open_meter = billing.open_meter
    patch.setattr(states.billing, "open_meter", lambda **what: open_meter(**{**what, "replicas": 3}))


def start_below_the_least(patch: Patch) -> None:
    gang = requested._gang

    def smaller(spec: Any) -> scheduler.Gang | None:
        found = gang(spec)
        return None if found is None else replace(found, minimum=1)

    patch.setattr(requested, "_gang", smaller)


def wait_for_room_for_all(patch: Patch) -> None:
    """The queue forgets that fewer would do."""
    gang = requested._gang

    def whole(spec: Any) -> scheduler.Gang | None:
        found = gang(spec)
        return None if found is None else replace(found, minimum=None)

    patch.setattr(requested, "_gang", whole)


@pytest.mark.parametrize(
    ("mutant", "least", "invariant"),
    [
        (charge_for_all, 1, "gangs_are_metered_from_the_barrier"),
        (start_below_the_least, 3, "elastic_gangs_keep_to_their_range"),
        (wait_for_room_for_all, 1, "nobody_waits_beside_room"),
    ],
)
def test_a_broken_rule_about_them_is_found(
    soaking: Soaking, monkeypatch: Patch, mutant: Callable[[Patch], None], least: int, invariant: str
) -> None:
    scene = Scene(soaking(replace(PAIR, stop_at_first=True)))
    mutant(monkeypatch)
    scene.submit(4 * 3600, least_members=least)
    scene.wait(minutes=30)
    scene.lose_one(hours=1.0)
    scene.wait(hours=2)
    assert invariant in scene.found()


def test_it_goes_on_with_what_is_left_at_once(soaking: Soaking) -> None:
    scene = Scene(soaking(PAIR))
    workload = scene.submit(4 * 3600, least_members=1)
    scene.wait(minutes=30)
    scene.lose_one(hours=3.0)
    scene.wait(hours=1)
    with acting(platform()):
        first, second = attempts_of(workload)
        assert (first.member_count, second.started_at is not None) == (3, True)
        assert second.member_count < 3
        assert second.started_at - first.ended_at < timedelta(minutes=15)
    assert scene.soak.violations == []
