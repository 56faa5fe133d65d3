"""Hours of the whole platform in which everything holds, and broken rules that a soak finds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.billing import services as billing
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.workloads import states
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.queueing import estimates, promises, standstill
from apps.workloads.reconcile import explanations, outcome
from benchmarks.soak.plan import Plan
from benchmarks.soak.world import platform
from scheduler.timeline import Timeline
from scheduler.types import Task
from tests.soak.conftest import Soaking

SMALL = Plan(
    hours=1,
    seed=3,
    people=6,
    small=True,
    deaths_a_day=0,
    longest=timedelta(minutes=20),
    bustle=6,
    gangs=0,
    sets=0,
    stride=timedelta(minutes=30),
    stop_at_first=True,
)


def found_by(result: Mapping[str, Any]) -> set[str]:
    return {violation["invariant"] for violation in result["violations"]}


def test_everything_holds_for_some_hours(soaking: Soaking) -> None:
    plan = Plan(hours=3, seed=5, people=14, organisations=3, deaths_a_day=16, longest=timedelta(hours=1), bustle=2)
    result = soaking(plan).run()
    assert result["violations"] == []
    assert result["started"] > 10
    assert result["node_deaths"] == 2
    assert result["gang_attempts"]["started"] > 0
    assert result["sets"]["started"] > 0
    assert result["counted"]["sets_charged"] > 0
    assert result["charges"] > result["started"]


def test_the_same_seed_gives_the_same_hours(soaking: Soaking) -> None:
    first, second = (
        {
            name: value
            for name, value in soaking(replace(SMALL, gangs=0.5)).run().items()
            if name not in ("cpu_s", "wall_s", "peak_mib")
        }
        for _time in range(2)
    )
    assert first == second


class Mutants:
    """Rules that are wrong in a way that nobody sees at once."""

    @staticmethod
    def keep_quota(patch: pytest.MonkeyPatch) -> None:
        """What has ended keeps its quota."""
        patch.setattr(quotas, "release", lambda **_what: None)

    @staticmethod
    def bill_ahead(patch: pytest.MonkeyPatch) -> None:
        """Time is charged that nobody has seen run."""
        extend = billing.extend_meter
        patch.setattr(
            outcome.billing,
            "extend_meter",
            lambda session_id, proven_until: extend(
                session_id=session_id, proven_until=proven_until + timedelta(hours=1)
            ),
        )

    @staticmethod
    def keep_money(patch: pytest.MonkeyPatch) -> None:
        """What has ended keeps its hold."""
        patch.setattr(states.billing, "release_hold", lambda workload_id: None)

    @staticmethod
    def misinform(patch: pytest.MonkeyPatch) -> None:
        """Everybody is told that somebody else's work has to leave first."""
        explain = explanations.explanation_of
        patch.setattr(
            explanations, "explanation_of", lambda *a, **k: {**explain(*a, **k), "cause": "waiting_for_victims"}
        )

    @staticmethod
    def block_each_other(patch: pytest.MonkeyPatch) -> None:
        """Any other reservation of a machine keeps everybody off it, even off their own room."""

        def allows(timeline: Timeline, task: Task, _claims: object, row: int) -> bool:
            return all(kept.task.id == task.id for kept in timeline.on_row(row))

        patch.setattr(Timeline, "allows", allows)
        patch.setattr(Timeline, "claims_beside", lambda *_what: [])

    @staticmethod
    def block_each_other_unwatched(patch: pytest.MonkeyPatch) -> None:
        """The same, and nobody sets the queue going again."""
        Mutants.block_each_other(patch)
        patch.setattr(standstill, "release_standstill", lambda *_what: None)

    @staticmethod
    def keep_no_room(patch: pytest.MonkeyPatch) -> None:
        """People are told of room that is kept for them, and it is not."""
        explain = explanations.explanation_of
        patch.setattr(
            explanations, "explanation_of", lambda wait, *a, **k: explain(replace(wait, guessed=False), *a, **k)
        )
        patch.setattr(promises, "keep", lambda *_what: None)

    @staticmethod
    def never_score(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(estimates, "score_estimates", lambda workloads, at: None)


@pytest.mark.parametrize(
    ("mutant", "invariant"),
    [
        (Mutants.keep_quota, "nothing_is_orphaned"),
        (Mutants.bill_ahead, "slices_tile_what_ran"),
        (Mutants.keep_money, "holds_belong_to_what_lives"),
        (Mutants.misinform, "explanation_is_true"),
        (Mutants.block_each_other, "no_loop_fails"),  # the watchdog ends it within the hour, and logs that it had to
        (Mutants.block_each_other_unwatched, "nobody_waits_beside_room"),
        (Mutants.keep_no_room, "a_promise_is_kept_or_its_breach_told"),
        (Mutants.never_score, "estimates_are_scored"),
    ],
)
def test_a_broken_rule_is_found(
    soaking: Soaking,
    monkeypatch: pytest.MonkeyPatch,
    mutant: Callable[[pytest.MonkeyPatch], None],
    invariant: str,
) -> None:
    soak = soaking(SMALL)
    mutant(monkeypatch)
    assert invariant in found_by(soak.run())


def test_runs_on_a_new_installation_follow_each_other(soaking: Soaking) -> None:
    """Two cores: one run takes one for long, another the other, two more wait with room promised to them."""
    soak = soaking(Plan(small=True, people=2, deaths_a_day=0))
    crowd = soak.crowd()
    person, hour = crowd.world.people[0], timedelta(hours=1)
    soak.repeat_loops()
    crowd.submit(person, 10 * 3600)
    first = crowd.submit(person, 1800)
    soak.until(soak.clock.now() + timedelta(minutes=10))
    waiting = [crowd.submit(person, 600) for _run in range(3)]
    soak.until(soak.clock.now() + 2 * hour)
    soak.check()
    with acting(platform()):
        ended = Workload.objects.filter(pk__in=[first.pk, *(each.pk for each in waiting)], status=Status.SUCCEEDED)
        assert ended.count() == 4
    assert soak.violations == []


@pytest.mark.parametrize("told", [True, False])
def test_a_promise_that_is_given_up_is_found_unless_it_was_told(
    soaking: Soaking, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    explain, guessed = explanations.explanation_of, False
    monkeypatch.setattr(
        explanations, "explanation_of", lambda w, *a, **k: explain(replace(w, guessed=guessed), *a, **k)
    )
    if not told:
        monkeypatch.setattr(explanations.promises, "tell", lambda *_what: None)
    soak = soaking(Plan(small=True, people=2, deaths_a_day=0))
    crowd = soak.crowd()
    soak.repeat_loops()
    for _run in range(4):
        crowd.submit(crowd.world.people[0], 10 * 3600)
    for guessed in (False, True):  # noqa: B007  read by the explanation above
        soak.until(soak.clock.now() + timedelta(minutes=20))
        soak.check()
    assert {violation.invariant for violation in soak.violations} == (
        set() if told else {"a_promise_is_kept_or_its_breach_told"}
    )
