"""Every contradiction of a new experiment is named beside its field, and nothing is started."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.automl import services
from apps.automl.choices import ExperimentStatus
from apps.automl.models import Experiment
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.space import Parameter, ParameterKind
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.training.placing import PlacedAs, Placement, place, text_of
from tests.automl.kit import LAYERS, LOSS, LR, Bench, wanted_for
from tests.builders import platform

pytestmark = pytest.mark.django_db


def double(**changes: Any) -> Parameter:
    return replace(Parameter(name="lr", kind=ParameterKind.DOUBLE, low=0.1, high=1.0), **changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "-x"}, "name"),
        ({"objectives": ()}, "objectives"),
        ({"objectives": (replace(LOSS, metric=""),)}, "objectives.0.metric"),
        ({"objectives": (replace(LOSS, goal=float("nan")),)}, "objectives.0.goal"),
        ({"objectives": (LOSS, LOSS)}, "objectives.1.metric"),
        ({"objectives": (LOSS, replace(LOSS, metric="b"), replace(LOSS, metric="c"))}, "objectives"),
        ({"most_trials": 0}, "most_trials"),
        ({"most_trials": 1001}, "most_trials"),
        ({"parallel": 0}, "parallel"),
        ({"parallel": 5, "most_trials": 4}, "parallel"),
        ({"most_failed": -1}, "most_failed"),
        ({"seed": -1}, "seed"),
        ({"early_stopping": EarlyStopping(min_trials=0)}, "min_trials"),
        ({"parameters": ()}, "parameters"),
        ({"parameters": (double(low=2.0),)}, "parameters.0.high"),
        ({"parameters": (double(log=True, low=0.0),)}, "parameters.0.low"),
        ({"parameters": (double(high=None),)}, "parameters.0.high"),
        ({"parameters": (double(low=1.0),), "algorithm": Algorithm.TPE}, "parameters"),
        ({"parameters": (double(), double()), "algorithm": Algorithm.TPE}, "parameters.1.name"),
        ({"parameters": (double(),)}, "algorithm"),  # a grid of what has no steps
        ({"algorithm": Algorithm.CMAES, "parameters": (LAYERS,)}, "algorithm"),
        ({"algorithm": Algorithm.TPE, "settings": {"n_startup_trials": 0}}, "settings.n_startup_trials"),
        ({"algorithm": Algorithm.TPE, "settings": {"colour": 1}}, "settings.colour"),
        ({"placements": {"lr": Placement(PlacedAs.ARGUMENT, "a b"), "layers": Placement(PlacedAs.ARGUMENT, "-l")}},
         "parameters.0.placed_name"),
        ({"placements": {"lr": Placement(PlacedAs.VARIABLE, "X"), "layers": Placement(PlacedAs.VARIABLE, "X")}},
         "parameters.1.placed_name"),
        ({"budget_fen": 1}, "budget"),
        ({"key": ""}, "key"),
    ],
)  # fmt: skip
def test_a_contradiction_is_named_beside_its_field(bench: Bench, changes: dict[str, Any], field: str) -> None:
    actor = bench.world.actor
    with acting(actor), pytest.raises(Invalid) as caught:
        services.create(actor, wanted_for(bench.template, **changes))
    assert field in caught.value.fields
    assert all(str(text) for text in caught.value.fields.values())
    with acting(platform()):
        assert not Experiment.objects.exists()


def test_all_contradictions_are_named_at_once(bench: Bench) -> None:
    actor = bench.world.actor
    with acting(actor), pytest.raises(Invalid) as caught:
        services.create(actor, wanted_for(bench.template, most_trials=0, parallel=0, parameters=(double(low=9.0),)))
    assert {"most_trials", "parallel", "parameters.0.high"} <= set(caught.value.fields)


def test_the_same_key_starts_one_experiment(bench: Bench) -> None:
    first, again = bench.create(key="twice"), bench.create(key="twice")
    assert first.pk == again.pk


@pytest.mark.parametrize("who", ["bob", "charlie", "frank"])
def test_nobody_else_sees_it_or_acts_on_it(bench: Bench, who: str, request: pytest.FixtureRequest) -> None:
    """A colleague without the right, another organisation's owner, and who keeps the books."""
    experiment, client = bench.create(), request.getfixturevalue(who)
    assert client.get(reverse("tuning:detail", args=[experiment.pk])).status_code in (403, 404)
    assert client.post(reverse("tuning:act", args=[experiment.pk, "stop"])).status_code in (403, 404)
    assert bench.reload(experiment).status == ExperimentStatus.RUNNING


def test_a_run_of_others_is_not_tuned(bench: Bench, charlie: Client) -> None:
    page = charlie.get(reverse("tuning:new"), {"run": str(bench.template.pk)})
    assert page.status_code == 404


ROWS = (("--lr", "0.5"), ("--epochs", "3"), ("model.depth=2", ""), ("--flag", ""))


@pytest.mark.parametrize(
    ("placement", "value", "arguments", "environment"),
    [
        (Placement(PlacedAs.ARGUMENT, "--lr"), 0.1, (("--lr", "0.1"), *ROWS[1:]), ()),
        (Placement(PlacedAs.ARGUMENT, "--new"), "adam", (*ROWS, ("--new", "adam")), ()),
        (Placement(PlacedAs.ARGUMENT, "model.depth="), 7, (*ROWS[:2], ("model.depth=7", ""), ROWS[3]), ()),
        (Placement(PlacedAs.VARIABLE, "LR"), True, ROWS, (("LR", "true"),)),
        (Placement(PlacedAs.ARGUMENT, "--lr"), None, ROWS[1:], ()),
    ],
)
def test_a_value_takes_the_place_that_it_had(
    placement: Placement, value: Any, arguments: tuple[Any, ...], environment: tuple[Any, ...]
) -> None:
    """A parameter without a value, whose condition does not hold, leaves nothing of the template's."""
    placed = place(ROWS, (), {"p": placement}, {} if value is None else {"p": value})
    assert (placed.arguments, placed.environment) == (arguments, environment)


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (1, "1"), (1e-05, "1e-05"), (0.1 + 0.2, "0.30000000000000004"), ("a b", "a b")]
)
def test_a_program_gets_all_digits(value: Any, text: str) -> None:
    assert text_of(value) == text


def test_a_direction_alone_says_which_value_counts(bench: Bench) -> None:
    most = Objective(metric="accuracy", direction=Direction.MAXIMIZE)
    assert bench.create(objectives=(most,)).strategy == "max"
    assert bench.create(parameters=(LR, LAYERS)).strategy == "min"
