"""What columns hold, as pages say it beside their names."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.storage import sheets
from apps.storage.choices import RootKind
from apps.storage.column_types import ColumnType, of_cells, of_values
from apps.storage.roots import Root
from tests.storage.kit import put


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(RootKind.VOLUME, uuid4(), uuid4(), tmp_path, "volume", "data", writable=True)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-20", " 3 ", ""], ColumnType.INTEGER),
        (["1", "2.5", "1e-3", ".5", "nan"], ColumnType.NUMBER),
        (["true", "False", ""], ColumnType.TRUTH),
        (["2026-11-27", "2024-02-29"], ColumnType.DATE),
        (["2026-11-27T10:00:00", "2026-11-27 10:00:00+08:00"], ColumnType.MOMENT),
        (["2026-02-30"], ColumnType.TEXT),
        (["2026-11-27", "later"], ColumnType.TEXT),
        (["1", "true"], ColumnType.TEXT),
        (["1,5"], ColumnType.TEXT),
        (["名"], ColumnType.TEXT),
        (["", " "], ColumnType.EMPTY),
        ([], ColumnType.EMPTY),
    ],
)
def test_cells(cells: list[str], expected: ColumnType) -> None:
    assert of_cells(cells) is expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, 2], ColumnType.INTEGER),
        ([1, 2.5], ColumnType.NUMBER),
        ([True, False], ColumnType.TRUTH),
        ([True, 1], ColumnType.MIXED),
        (["one", "2026-11-27"], ColumnType.TEXT),
        (["2026-11-27"], ColumnType.DATE),
        ([[1], []], ColumnType.LIST),
        ([{"a": 1}], ColumnType.OBJECT),
        ([{"a": 1}, "a"], ColumnType.MIXED),
        ([None], ColumnType.EMPTY),
    ],
)
def test_values(values: list[object], expected: ColumnType) -> None:
    assert of_values(values) is expected


@given(st.lists(st.integers(), min_size=1))
def test_whole_numbers_are_found_however_long(numbers: list[int]) -> None:
    assert of_cells(map(str, numbers)) is ColumnType.INTEGER


@given(st.lists(st.text(max_size=60)))
def test_any_text_has_a_type(cells: list[str]) -> None:
    assert isinstance(of_cells(cells), ColumnType)


def test_a_table_says_it_of_its_columns(root: Root) -> None:
    put(root.path, "a.csv", "step,loss,at,note\n1,0.5,2026-11-27,a\n2,,2026-11-28,\n")
    found = sheets.read_sheet(root, "a.csv")
    assert found is not None
    assert found.types == [ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.TEXT]
    put(root.path, "b.csv", "only,names\n")
    names = sheets.read_sheet(root, "b.csv")
    assert names is not None
    assert names.types == [ColumnType.EMPTY] * 2


class TestLinesOfJson:
    def read(self, root: Root, *lines: object, name: str = "a.jsonl") -> sheets.Sheet | None:
        put(root.path, name, "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return sheets.read_sheet(root, name)

    @pytest.mark.parametrize("name", ["a.jsonl", "a.NDJSON"])
    def test_each_name_is_a_column(self, root: Root, name: str) -> None:
        found = self.read(root, {"text": "你好", "n": 1}, "", {"n": 2.5, "tags": ["a"], "text": None}, name=name)
        assert found is not None
        assert found.head == ["text", "n", "tags"]
        assert found.rows == [["你好", "1", ""], ["", "2.5", '["a"]']]
        assert found.types == [ColumnType.TEXT, ColumnType.NUMBER, ColumnType.LIST]

    @pytest.mark.parametrize("line", ["[1]", "1", "{", '{"a": 1} x', "[" * 100_000])
    def test_anything_else_is_no_table(self, root: Root, line: str) -> None:
        assert self.read(root, {"a": 1}, line) is None

    def test_rows_columns_and_cells_end_somewhere(self, root: Root) -> None:
        wide = {f"c{number}": "x" * 999 for number in range(sheets.COLUMNS + 1)}
        found = self.read(root, wide, *[{"c0": number} for number in range(sheets.ROWS)])
        assert found is not None
        assert (len(found.rows), found.more_rows) == (sheets.ROWS, True)
        assert (len(found.head), len(found.types), found.more_columns) == (sheets.COLUMNS, sheets.COLUMNS, True)
        assert len(found.rows[0][0]) == sheets.CELL

    def test_of_a_large_file_the_beginning_is_shown(self, root: Root) -> None:
        found = self.read(root, *[{"n": number, "text": "名" * 100} for number in range(5000)])
        assert found is not None
        assert found.more_rows
