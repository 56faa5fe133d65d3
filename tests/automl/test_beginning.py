"""Experiments that begin with what another one found."""

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from apps.automl import beginning
from apps.automl.choices import ResumePolicy
from apps.automl.models import Experiment
from apps.automl.reconcile.asking import inquiry
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.space import Parameter, ParameterKind
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.scoping import acting
from tests.automl.kit import LAYERS, LOSS, LR, Bench
from tests.builders import actor_of, platform, signed_in

pytestmark = pytest.mark.django_db
OTHER_WAY = Objective(metric="loss", direction=Direction.MAXIMIZE)


@pytest.fixture
def earlier(bench: Bench) -> Experiment:
    """A finished grid of four points, of which the last one failed."""
    experiment = bench.create(parallel=4, most_failed=2, resume_policy=ResumePolicy.FROM_VOLUME, seed=1)
    bench.turn(experiment)
    for trial in bench.trials(experiment)[:3]:
        bench.finish(trial, 0.25)
    bench.end(bench.trials(experiment)[3])
    return bench.turn(experiment)


def test_the_search_knows_the_finished_trials_that_lie_within_its_parameters(bench: Bench, earlier: Experiment) -> None:
    values = [each.values for each in bench.trials(earlier)[:3]]
    narrow = replace(LR, choices=tuple({values[0]["lr"], values[1]["lr"]}))
    wanted = [each for each in values if each["lr"] in narrow.choices]
    parameters = (narrow, LAYERS)
    experiment = bench.create(algorithm=Algorithm.TPE, parameters=parameters, begins_with=earlier.pk, parallel=1)
    with acting(platform()):
        asked = inquiry(bench.reload(experiment), count=1)
    assert [each.values for each in asked.past] == wanted
    assert [each.number for each in asked.past] == list(range(-len(wanted), 0))
    # What the other one finds from now on is not known to it: the same question has the same answer for ever.
    bench.turn(experiment)
    with acting(platform()):
        numbers = [each.number for each in inquiry(bench.reload(experiment), count=1).past]
    assert numbers == [*range(-len(wanted), 0), 1]
    page = signed_in(bench.world.alice).get(reverse("tuning:detail", args=[experiment.pk]), {"tab": "settings"})
    assert f"{earlier.name}: {len(wanted)} trial" in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithm": Algorithm.RANDOM}, "Only TPE"),
        ({"objectives": (OTHER_WAY,)}, "in the other direction"),
        ({"parameters": (replace(LR, choices=(0.5, 0.6)), LAYERS)}, "within these parameters"),
        (
            {"parameters": (LR, Parameter(name="m", kind=ParameterKind.DOUBLE, low=0, high=1))},
            "within these parameters",
        ),
    ],
)
def test_what_it_cannot_begin_with_is_said_beside_the_field(
    bench: Bench, earlier: Experiment, changes: dict[str, object], words: str
) -> None:
    usual: dict[str, object] = {"algorithm": Algorithm.TPE, "objectives": (LOSS,), "begins_with": earlier.pk}
    with pytest.raises(Invalid) as refused:
        bench.create(**{**usual, **changes})
    assert words in str(refused.value.fields["begins_with"])


def test_one_that_was_not_started_so_and_one_of_strangers_are_refused(bench: Bench, earlier: Experiment) -> None:
    with acting(platform()):
        Experiment.objects.filter(pk=earlier.pk).update(resume_policy=ResumePolicy.LONG_RUNNING)
    with pytest.raises(Invalid):
        bench.create(algorithm=Algorithm.TPE, begins_with=earlier.pk)
    stranger: Actor = actor_of(bench.world.alice, bench.world.organisation)
    with acting(stranger):
        assert not beginning.offered(stranger).exists()


def test_the_form_offers_it(bench: Bench, earlier: Experiment, client: Client) -> None:
    page = signed_in(bench.world.alice).get(reverse("tuning:new"), {"run": str(bench.template.pk)}).content.decode()
    assert f'value="{earlier.pk}"' in page
