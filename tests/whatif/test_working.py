"""A scenario survives its worker, ends when it is cancelled, and fails in words."""

from datetime import timedelta

import pytest

from apps.common.actor import Actor
from apps.common.claiming import MOST_CLAIMS
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.whatif import states, working
from apps.whatif.choices import ScenarioStatus
from apps.whatif.models import Scenario
from apps.whatif.replaying import process
from apps.whatif.replaying.gather import side_a
from apps.whatif.words import failure
from tests.builders import platform
from tests.whatif.test_scenarios import ask, worked


def silent(scenario: Scenario) -> None:
    """As if whoever had claimed it was killed a while ago."""
    Scenario.objects.filter(pk=scenario.pk).update(beat_at=db_now() - timedelta(minutes=5))


def test_who_was_killed_is_not_believed_and_another_one_takes_it_up(root: Actor) -> None:
    with acting(root):
        scenario = ask(root)
    dead = states.claim()
    assert dead is not None
    assert states.claim() is None
    assert states.report_progress(dead, 0.4)
    silent(scenario)
    heir = states.claim()
    assert heir is not None
    assert (heir.pk, heir.fence, heir.progress) == (scenario.pk, 2, 0.0)
    assert not states.report_progress(dead, 0.5)
    assert not states.finish(dead, {}, b"")
    assert not states.fail(dead, "late")
    assert states.report_progress(heir, 0.1)


def test_one_scenario_at_a_time(root: Actor) -> None:
    with acting(root):
        first, second = ask(root), ask(root)
    assert getattr(states.claim(), "pk", None) == first.pk
    assert states.claim() is None
    states.cancel(first)
    assert getattr(states.claim(), "pk", None) == second.pk


def test_what_has_cost_three_workers_is_given_up_in_words(root: Actor) -> None:
    with acting(root):
        scenario = ask(root)
    for _worker in range(MOST_CLAIMS):
        assert states.claim() is not None
        silent(scenario)
    scenario = worked(scenario)
    assert scenario.status == ScenarioStatus.FAILED
    assert "stopped three times" in failure(scenario)


def test_a_cancelled_replay_ends_its_process_and_keeps_nothing(root: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    with acting(root):
        scenario = ask(root, days=7)
    asked = process._started
    children = []

    def started_then_cancelled(*args: object) -> object:
        children.append(asked(*args))  # type: ignore[arg-type]
        states.cancel(scenario)
        return children[-1]

    monkeypatch.setattr(process, "_started", started_then_cancelled)
    scenario = worked(scenario)
    assert (scenario.status, scenario.result) == (ScenarioStatus.CANCELLED, {})
    assert children[0].poll() is not None


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (process.TimeLimitExceeded(), "longer than one scenario may"),
        (process.ProcessFailed("killed"), "lack of memory"),
    ],
)
def test_what_goes_wrong_is_told(root: Actor, monkeypatch: pytest.MonkeyPatch, problem: Exception, words: str) -> None:
    with acting(root):
        scenario = ask(root)

    def fails(*args: object) -> None:
        raise problem

    monkeypatch.setattr(working, "reports_of", fails)
    scenario = worked(scenario)
    assert scenario.status == ScenarioStatus.FAILED
    assert words in failure(scenario)


def test_a_replay_that_passes_its_limit_or_dies_is_an_error_of_its_own(root: Actor) -> None:
    with acting(root):
        scenario = ask(root, days=7)
    with acting(platform()):
        side = side_a(scenario)
    with pytest.raises(process.TimeLimitExceeded):
        process.reports_of((side,), lambda done: True, 0.0)
    with pytest.raises(process.ProcessFailed):
        process.reports_of(("no side",), lambda done: True, 60.0)  # type: ignore[arg-type]
