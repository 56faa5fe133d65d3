"""What the head of a table says of its columns."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.storage.models import DatasetVersion
from apps.tabular import preview
from apps.tabular.choices import Metric, Task, Warned
from apps.tabular.preview import Preview
from apps.tabular.wanted import check
from tests.builders import World
from tests.tabular.kit import make_version, wanted_for

pytestmark = pytest.mark.django_db


def head(world: World, version: DatasetVersion, path: str = "iris.csv") -> Preview:
    with acting(world.actor):
        return preview.read(world.actor, version, path)


def test_each_column_says_what_it_holds_and_what_to_mind(world: World, version: DatasetVersion) -> None:
    found = head(world, version)
    warned = {each.name: set(each.warnings) for each in found.columns}
    assert warned == {
        "row": {Warned.ID_LIKE},
        "width": set(),
        "city": set(),
        "unit": {Warned.CONSTANT},
        "species": set(),
        "code": set(),
    }
    city = found.column("city")
    assert city is not None
    assert city.missing == pytest.approx(0.2)
    assert city.distinct == 3
    assert (found.rows, found.rows_read, found.is_whole) == (40, 40, True)
    assert preview.leaky_columns(found, "species") == ["code"]
    assert preview.leaky_columns(found, "row") == []  # two columns that never repeat tell nothing of each other
    assert preview.guessed_task(found, "species") is preview.guessed_task(found, "code") is Task.CLASSIFICATION
    assert preview.guessed_task(found, "row") is Task.REGRESSION


def test_what_the_head_of_a_long_file_lacks_the_file_may_have(world: World) -> None:
    rows = preview.MOST.rows + 10
    version = make_version(world, {"long.csv": "a,b\n" + "1,x\n" * rows})
    found = head(world, version, "long.csv")
    assert (found.rows, found.rows_read, found.is_whole) == (None, preview.MOST.rows, False)
    # The rest may hold other values: the run will say.
    check(wanted_for(world, version, file="long.csv", target="b", left_out=()), found, 1 << 20)


def test_what_is_no_table_is_refused_beside_the_file(world: World, version: DatasetVersion) -> None:
    for path in ("notes.csv", "../secret.csv", "iris.txt", "missing.csv"):
        with pytest.raises(Invalid) as refused:
            head(world, version, path)
        assert list(refused.value.fields) == ["file"]


def test_names_of_columns_are_there_and_differ(world: World) -> None:
    version = make_version(world, {"twice.csv": "a,a\n1,2\n", "unnamed.csv": "a,\n1,2\n"})
    for path in ("twice.csv", "unnamed.csv"):
        with pytest.raises(Invalid):
            head(world, version, path)


GAPS = "id,empty,target,many\n" + "".join(f"{at},,{'a' if at < 39 else ''},v{at}\n" for at in range(40))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"file": "small.csv"}, "file"),
    ({"target": "nothing"}, "target"),
    ({"target": "unit"}, "target"),
    ({"task": Task.REGRESSION, "metric": Metric.RMSE}, "task"),
    ({"target": "row"}, "task"),
    ({"metric": Metric.RMSE}, "metric"),
    ({"group": "species"}, "group"),
    ({"time": "nothing"}, "time"),
    ({"group": "city", "time": "row"}, "time"),
    ({"left_out": ("nothing",)}, "left_out"),
    ({"left_out": ("row", "width", "city", "unit", "code")}, "left_out"),
    ({"folds": 1}, "folds"),
    ({"holdout": 0.0}, "holdout"),
    ({"test": float("nan")}, "test"),
    ({"minutes": 0}, "minutes"),
    ({"seed": -1}, "seed"),
    ({"learners": ()}, "learners"),
]


def test_what_cannot_be_searched_is_said_beside_its_field(world: World, version: DatasetVersion) -> None:
    for changes, field in REFUSED:
        wanted = wanted_for(world, version, **changes)
        with pytest.raises(Invalid) as refused:
            check(wanted, head(world, version, wanted.file), 4096)
        assert list(refused.value.fields) == [field], changes


def test_a_table_that_memory_does_not_hold_asks_for_a_larger_package(world: World, version: DatasetVersion) -> None:
    small = head(world, version)
    large = Preview(small.columns, 5 << 30, None, small.rows_read, False, small.cells)
    wanted = wanted_for(world, version)
    check(wanted, large, 20 * 1024)
    with pytest.raises(Invalid) as refused:
        check(wanted, large, 20 * 1024 - 1)
    assert list(refused.value.fields) == ["package"]


def test_a_column_without_a_value_is_no_target(world: World) -> None:
    version = make_version(world, {"gaps.csv": GAPS})
    found = head(world, version, "gaps.csv")
    for target in ("empty", "target"):
        with pytest.raises(Invalid) as refused:
            check(wanted_for(world, version, file="gaps.csv", target=target, left_out=()), found, 4096)
        assert list(refused.value.fields) == ["target"]


CELLS = st.lists(st.sampled_from(["", "1", "2.5", "x", "nan", "2024-01-31", "true"]), min_size=1, max_size=30)


@given(CELLS)
def test_shares_and_counts_are_those_of_the_cells(cells: list[str]) -> None:
    column = preview._column("c", cells)
    known = [each for each in cells if each not in ("", "nan")]
    assert column.missing == pytest.approx(1 - len(known) / len(cells))
    assert column.distinct == len(set(known))
    assert (Warned.EMPTY in column.warnings) == (not known)
