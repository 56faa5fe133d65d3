"""MLflow's filter strings: what is understood finds the right runs, and all else is refused with its place."""

from contextlib import suppress

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.tracking import nesting, notes, services
from apps.tracking.mlflow.filters import Condition, Kind, narrowed, ordered, parse
from apps.tracking.models import TrackedRun
from apps.workloads.models import Workload
from tests.builders import platform
from tests.tracking.kit import point


def test_comparisons_are_read() -> None:
    assert parse("metrics.loss < 0.3 and params.lr = \"0.1\" AND tags.`a b` LIKE '%x'") == [
        Condition(Kind.METRIC, "loss", "<", 0.3),
        Condition(Kind.PARAMETER, "lr", "=", "0.1"),
        Condition(Kind.TAG, "a b", "LIKE", "%x"),
    ]
    assert parse("metrics.train/loss >= -1e-3") == [Condition(Kind.METRIC, "train/loss", ">=", -0.001)]
    assert parse("params.a.b != 'c'") == [Condition(Kind.PARAMETER, "a.b", "!=", "c")]
    assert parse("tags.t IN ('a', 'b')") == [Condition(Kind.TAG, "t", "IN", ("a", "b"))]
    assert parse("  ") == []


@pytest.mark.parametrize(
    "text",
    [
        "metrics.loss",
        "metrics.loss <",
        "metrics.loss < 'x'",
        "metrics.loss < 1 or params.a = 'b'",
        "metrics.loss < 1 metrics.a < 2",
        "params.lr < '1'",
        "params.lr = 0.1",
        "datasets.name = 'a'",
        "(metrics.loss < 1)",
        "metrics.loss < 1; drop table",
        "tags.a IN ()",
        "tags.a = 'unfinished",
        "nothing = 'a'",
        "metrics.loss < 1 and",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse(text)


@given(st.text(max_size=60))
def test_whatever_is_sent_is_read_or_refused(text: str) -> None:
    with suppress(Invalid):
        parse(text)


def test_runs_are_found_and_ordered(workload: Workload) -> None:
    runs = {}
    for name, loss, rate in (("a", 0.1, "0.1"), ("b", 0.2, "0.01"), ("c", float("nan"), "0.1")):
        run = nesting.begin(workload_id=workload.pk, parent_id=None, name=name, started_at=timezone.now())
        services.add_points(run_id=run.pk, points=[point("loss", 9.0), point("loss", loss)])
        notes.set_parameters(run_id=run.pk, values={"lr": rate})
        runs[run.pk] = name

    def found(text: str, *order: str) -> list[str]:
        with acting(platform()):
            rows = ordered(narrowed(TrackedRun.objects.filter(parent__isnull=False), parse(text)), list(order))
            return [runs[row.pk] for row in rows]

    assert found("metrics.loss < 0.3", "metrics.loss ASC") == ["a", "b"]
    assert found("metrics.loss < 0.3", "metrics.loss DESC") == ["b", "a"]
    assert found("metrics.loss < 0.3 and params.lr = '0.1'") == ["a"]
    assert found("metrics.loss > 0", "metrics.loss") == ["a", "b"]  # not NaN
    assert found("params.lr LIKE '0.0%'") == ["b"]
    assert found("attributes.run_name IN ('a', 'c')", "attributes.start_time DESC") == ["c", "a"]
    assert found("metrics.other < 1") == []
