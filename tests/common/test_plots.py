"""What charts of many rows are told."""

import json
import math

from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from apps.common.plots import (
    MOST_ROWS,
    Axis,
    AxisKind,
    Better,
    Objective,
    Parallel,
    PlotRow,
    Trial,
    TrialState,
    axis_of,
    number_or_text,
    on_axis,
)

VALUES = st.none() | st.floats() | st.text(max_size=100)


def test_an_axis_takes_the_kind_of_its_values() -> None:
    assert axis_of("a", "a", [1.0, None, 3.0]).kind is AxisKind.NUMBER
    assert axis_of("a", "a", [1e-5, 0.1]).kind is AxisKind.LOG
    assert axis_of("a", "a", [0.0, 1e-5, 0.1]).kind is AxisKind.NUMBER
    assert axis_of("a", "a", [None]).kind is AxisKind.NUMBER
    mixed = axis_of("a", "a", ["sgd", 2.0, None, "adam"])
    assert (mixed.kind, mixed.categories) == (AxisKind.CATEGORY, ("2", "adam", "sgd"))


def test_a_parameter_is_a_number_where_it_reads_as_one() -> None:
    assert number_or_text("1e-4") == 1e-4
    assert number_or_text("nan") == "nan"
    assert number_or_text("adam") == "adam"


@given(st.lists(VALUES, max_size=20))
def test_every_value_lies_on_its_axis_and_json_takes_it(values: list[float | str | None]) -> None:
    axis = axis_of("k", "k", values)
    placed = on_axis(axis, values)
    assert all((had is None) == (has is None) for had, has in zip(values, placed, strict=True))
    if axis.kind is AxisKind.CATEGORY:
        assert {each for each in placed if each is not None} == set(axis.categories)
    chart = Parallel((axis,), tuple(PlotRow(str(k), "", (value,)) for k, value in enumerate(placed)))
    json.dumps(chart.plain(), allow_nan=False)


def test_no_more_rows_are_drawn_than_a_browser_takes() -> None:
    rows = tuple(PlotRow(str(k), f"#{k}", (1.0,)) for k in range(MOST_ROWS + 2))
    chart = Parallel((Axis("a", "a", AxisKind.NUMBER),), rows)
    assert (len(chart.plain()["rows"]), len(chart.table_rows), chart.left_out) == (MOST_ROWS, MOST_ROWS, 2)


def test_the_components_carry_their_description_and_say_it_as_a_table() -> None:
    name = "<script>alert(1)</script>"
    row = PlotRow("r1", name, (0.5, None), "/runs/1/")
    chart = Parallel((Axis("a", "a", AxisKind.NUMBER), Axis("b", "</script>", AxisKind.NUMBER)), (row,), colour="a")
    for component in ("parallel", "scatter"):
        page = render_to_string(
            f"components/{component}.html", {"id": "p", "title": "T", "chart": chart, "with_table": 1}
        )
        assert "<script>alert" not in page
        assert page.count("</script>") == 1
        assert '"rows"' in page
        assert 'data-plot-row="r1"' in page
        assert 'href="/runs/1/"' in page


def test_an_objective_names_each_state_and_has_no_nan() -> None:
    trials = (Trial(1, TrialState.COMPLETE, 0.25), Trial(2, TrialState.FAILED, math.nan), Trial(3, TrialState.PRUNED))
    chart = Objective("loss", Better.LOW, trials)
    assert [each["value"] for each in chart.plain()["trials"]] == [0.25, None, None]
    page = render_to_string("components/objective.html", {"id": "o", "title": "T", "chart": chart})
    for word in ("#1", "complete", "failed", "pruned", "0.25"):
        assert word in page
