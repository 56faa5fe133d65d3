"""What follows from how steps ended: which start, which are left out, and how the whole ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from apps.pipelines.graph.steps import Graph, Need, Outcome, Step, When

Outcomes: TypeAlias = Mapping[str, Outcome]
"""Of the steps that have ended, by name."""
Say: TypeAlias = Callable[[str, str], float | None]
"""The last value that a step said of a metric; None if it said none."""


class Verdict(StrEnum):
    WAIT = "wait"
    START = "start"
    SKIP = "skip"
    # A bound on a metric that nobody said: neither held nor broken.
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class Decision:
    """`need`: what decided against it, or keeps it waiting."""

    verdict: Verdict
    need: Need | None = None


def decide(step: Step, outcomes: Outcomes, say: Say) -> Decision:
    """Whether a step that has not started may. It waits for all that it needs, although one has decided already: what
    it would be told then does not depend on who ended first."""
    for need in step.needs:
        if need.step not in outcomes:
            return Decision(Verdict.WAIT, need)
    for need in step.needs:
        verdict = _judge(need, outcomes[need.step], say)
        if verdict is not Verdict.START:
            return Decision(verdict, need)
    return Decision(Verdict.START)


def _judge(need: Need, outcome: Outcome, say: Say) -> Verdict:
    if need.when is When.ENDED:
        return Verdict.START
    wanted = Outcome.FAILED if need.when is When.FAILED else Outcome.SUCCEEDED
    if outcome is not wanted:
        return Verdict.SKIP
    if need.bound is None:
        return Verdict.START
    said = say(need.step, need.bound.metric)
    if said is None:
        return Verdict.UNMEASURED
    return Verdict.START if need.bound.holds(said) else Verdict.SKIP


def result(graph: Graph, outcomes: Outcomes) -> Outcome:
    """How a pipeline ended all of whose steps have. A step that was left out is as its conditions wanted it."""
    if any(outcomes[each.name] is Outcome.FAILED and not each.may_fail for each in graph.steps):
        return Outcome.FAILED
    if any(outcome is Outcome.STOPPED for outcome in outcomes.values()):
        return Outcome.STOPPED
    return Outcome.SUCCEEDED
