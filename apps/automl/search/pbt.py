"""Population based training (Jaderberg et al. 2017): generations of trials that go on from checkpoints.

A generation is `population` trials. Once all of them have ended, each member's next trial goes on from its own
checkpoint with its own values, but for the worst `quantile`: these take over the checkpoint of one of the best, and
explore around its values. A trial's `attrs` say which member of which generation it is; what a member tries follows
from the seed, the generation and the ended trials, so that it is the same whoever asks again.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.automl.search.algorithms import Algorithm, setting
from apps.automl.search.goals import Direction
from apps.automl.search.inquiry import Answer, Inquiry, PastTrial, Suggestion, TrialState
from apps.automl.search.space import Parameter, ParameterKind, Value
from apps.automl.search.space.parameters import is_active, steps

GENERATION, MEMBER = "pbt_generation", "pbt_member"
Members = dict[int, PastTrial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a member goes on: a trial, and whether it explores around its values or keeps them."""

    trial: PastTrial
    explores: bool


def ask(inquiry: Inquiry) -> Answer:
    """Members of the newest generation that have no trial yet; of the next one where all of these have ended."""
    population = setting(Algorithm.PBT, inquiry.settings, "population")
    generations = _generations(inquiry.past)
    newest = max(generations, default=0)
    members = generations.get(newest, {})
    if len(members) >= population and all(each.state is not TrialState.RUNNING for each in members.values()):
        newest, members = newest + 1, {}
    origins = _origins(generations.get(newest - 1, {}), inquiry, newest)
    missing = [member for member in range(population) if member not in members]
    suggestions = [_suggestion(inquiry, newest, member, origins.get(member)) for member in missing[: inquiry.count]]
    return Answer(suggestions=tuple(suggestions), exhausted=False)


def _generations(past: Sequence[PastTrial]) -> dict[int, Members]:
    """The members of each generation. Where a member was tried twice, the later trial is it."""
    generations: dict[int, Members] = {}
    for trial in sorted(past, key=lambda each: each.number):
        if GENERATION in trial.attrs:
            generations.setdefault(trial.attrs[GENERATION], {})[trial.attrs[MEMBER]] = trial
    return generations


def _origins(before: Members, inquiry: Inquiry, generation: int) -> dict[int, Origin]:
    """Where each member goes on. One that failed takes over as the worst do; where all failed, all begin anew."""
    ranked = sorted((trial for trial in before.values() if _value(trial) is not None), key=_rank(inquiry))
    if not ranked:
        return {}
    replaced = math.ceil(len(before) * setting(Algorithm.PBT, inquiry.settings, "quantile"))
    best = ranked[:replaced]
    worst = {trial.number for trial in before.values()} - {trial.number for trial in ranked[: len(before) - replaced]}
    worst -= {ranked[0].number}
    origins = {}
    for member, trial in before.items():
        draw = _random(inquiry, generation, member, "parent")
        takes_over = trial.number in worst
        origins[member] = Origin(trial=draw.choice(best) if takes_over else trial, explores=takes_over)
    return origins


def _value(trial: PastTrial) -> float | None:
    if trial.state is TrialState.COMPLETE and trial.objectives and math.isfinite(trial.objectives[0]):
        return trial.objectives[0]
    return None


def _rank(inquiry: Inquiry) -> Any:
    sign = 1 if inquiry.objectives[0].direction is Direction.MINIMIZE else -1
    return lambda trial: (sign * (_value(trial) or 0.0), trial.number)


def _suggestion(inquiry: Inquiry, generation: int, member: int, origin: Origin | None) -> Suggestion:
    draw = _random(inquiry, generation, member, "values")
    if origin is None:
        values = _walk(inquiry, lambda parameter: _drawn(parameter, draw))
    elif origin.explores:
        values = _walk(inquiry, lambda parameter: _explored(parameter, origin.trial.values, inquiry.settings, draw))
    else:
        values = dict(origin.trial.values)
    attrs = {GENERATION: generation, MEMBER: member}
    return Suggestion(values=values, attrs=attrs, parent=origin.trial.number if origin else None)


def _random(inquiry: Inquiry, generation: int, member: int, what: str) -> random.Random:
    return random.Random(f"{inquiry.seed}/{generation}/{member}/{what}")  # noqa: S311


def _walk(inquiry: Inquiry, value: Any) -> dict[str, Value]:
    """Values of the parameters that are active with those before them."""
    values: dict[str, Value] = {}
    for parameter in inquiry.space.parameters:
        if is_active(parameter, values):
            values[parameter.name] = value(parameter)
    return values


def _drawn(parameter: Parameter, draw: random.Random) -> Value:
    """A value at random: uniform between the bounds, or between their logarithms."""
    low, high = parameter.low or 0, parameter.high or 0
    if not parameter.numbered:
        return draw.choice(parameter.choices)
    if parameter.log:
        return _fitted(parameter, math.exp(draw.uniform(math.log(low), math.log(high))))
    size = parameter.size()
    return parameter.nth(draw.randrange(size)) if size else draw.uniform(low, high)


def _explored(
    parameter: Parameter, values: Mapping[str, Value], settings: Mapping[str, Any], draw: random.Random
) -> Value:
    """A value near the parent's; a new one where the parent has none, or by chance."""
    parent = values.get(parameter.name)
    if parent is None or draw.random() < setting(Algorithm.PBT, settings, "resample_probability"):
        return _drawn(parameter, draw)
    if parameter.kind is ParameterKind.CATEGORICAL:
        return parent
    if parameter.kind is ParameterKind.DISCRETE:
        index = (parameter.index_of(parent) or 0) + draw.choice((-1, 1))
        return parameter.nth(min(max(index, 0), len(parameter.choices) - 1))
    factor = setting(Algorithm.PBT, settings, draw.choice(("factor_down", "factor_up")))
    return _fitted(parameter, float(parent) * factor)


def _fitted(parameter: Parameter, number: float) -> Value:
    """The nearest value that the parameter can have."""
    low, high, spacing = parameter.low or 0, parameter.high or 0, parameter.spacing
    number = min(max(number, low), high)
    if spacing is None or low == high:
        return number
    return parameter.nth(min(round((number - low) / spacing), steps(low, high, spacing)))
