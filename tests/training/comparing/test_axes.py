"""The axes on which compared runs are drawn."""

import json
from decimal import Decimal

import pytest
from django.urls import reverse

from apps.common.plots import AxisKind, Better, Parallel
from apps.common.scoping import acting
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.training.comparing.axes import MOST_SHOWN, parallel_of
from apps.training.models import Run
from tests.builders import World, platform, signed_in
from tests.training.kit import submit, text

pytestmark = pytest.mark.django_db


def run_with(world: World, name: str, *arguments: tuple[str, str], **metrics: float) -> Run:
    run = submit(world, name=name, arguments=arguments)
    with acting(platform()):
        points = [Point(metric, value, 1, 1_700_000_000.0) for metric, value in metrics.items()]
        record(workload_id=run.workload_id, points=points)
    return run


def drawn(world: World, *runs: Run) -> Parallel:
    with acting(world.actor):
        found = parallel_of(world.actor, runs, {})
    assert found is not None
    return found


def test_parameters_that_differ_and_metrics_are_axes(world: World) -> None:
    first = run_with(world, "a", ("--lr", "1e-4"), ("--opt", "adam"), ("--epochs", "3"), val_loss=0.5, widgets=1.0)
    second = run_with(world, "b", ("--lr", "0.1"), ("--epochs", "3"), val_loss=0.25)
    chart = drawn(world, first, second)
    assert [each.key for each in chart.axes] == ["param:--lr", "param:--opt", "metric:val_loss", "metric:widgets"]
    kinds = [each.kind for each in chart.axes]
    assert kinds == [AxisKind.LOG, AxisKind.CATEGORY, AxisKind.NUMBER, AxisKind.NUMBER]
    assert [each.better for each in chart.axes] == [None, None, Better.LOW, None]
    assert [row.values for row in chart.rows] == [(1e-4, "adam", 0.5, 1.0), (0.1, None, 0.25, None)]
    assert (chart.across, chart.up, chart.colour) == ("param:--lr", "metric:val_loss", "metric:val_loss")


def test_no_more_axes_are_drawn_at_first_than_fit(world: World) -> None:
    many = {f"m{k}": float(k) for k in range(MOST_SHOWN + 3)}
    chart = drawn(world, run_with(world, "a", **many), run_with(world, "b"))
    assert sum(each.is_shown for each in chart.axes) == MOST_SHOWN


def test_costs_are_an_axis_where_they_may_be_seen(world: World) -> None:
    runs = [run_with(world, "a", loss=1.0), run_with(world, "b", loss=2.0)]
    with acting(world.actor):
        chart = parallel_of(world.actor, runs, {runs[0].pk: Decimal(250)})
    assert chart is not None
    assert chart.axes[-1].key == "cost"
    assert [row.values[-1] for row in chart.rows] == [2.5, None]


def test_runs_that_say_nothing_have_no_charts(world: World) -> None:
    runs = [submit(world, name="a"), submit(world, name="b")]
    with acting(world.actor):
        assert parallel_of(world.actor, runs, {}) is None
    page = signed_in(world.alice).get(reverse("training:compare"), {"run": [str(run.pk) for run in runs]})
    assert "data-plot" not in text(page)


def test_the_page_draws_them(world: World) -> None:
    runs = [run_with(world, "a", ("--lr", "1"), loss=0.5), run_with(world, "b", ("--lr", "2"), loss=0.25)]
    page = text(signed_in(world.alice).get(reverse("training:compare"), {"run": [str(run.pk) for run in runs]}))
    assert 'data-plot="parallel"' in page
    assert 'data-plot="scatter"' in page
    described = page.split('<script type="application/json">')[1].split("</script>")[0]
    assert [each["values"][:2] for each in json.loads(described)["rows"]] == [[1.0, 0.5], [2.0, 0.25]]
