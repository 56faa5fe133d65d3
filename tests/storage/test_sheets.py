"""Tables in text files, shown as tables: separators, encodings, large files, and what is no table."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.errors import Invalid
from apps.storage import sheets, volumes
from apps.storage.choices import RootKind
from apps.storage.roots import Root
from tests.builders import signed_in
from tests.storage.conftest import People
from tests.storage.kit import make_volume, put, text


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(RootKind.VOLUME, uuid4(), uuid4(), tmp_path, "volume", "data", writable=True)


def read(root: Root, content: str | bytes, name: str = "a.csv") -> sheets.Sheet | None:
    put(root.path, name, content)
    return sheets.read_sheet(root, name)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_of_the_first_line(root: Root, separator: str) -> None:
    found = read(root, separator.join("ab") + "\n" + separator.join(["1,5" if separator != "," else "1", "2"]) + "\n")
    assert found is not None
    assert found.head == ["a", "b"]
    assert len(found.rows) == 1
    assert len(found.rows[0]) == 2


def test_quotes_and_line_breaks_in_cells_are_kept(root: Root) -> None:
    found = read(root, 'name,note\r\n"a, b","two\nlines"\r\n')
    assert found is not None
    assert found.rows == [["a, b", "two\nlines"]]


def test_short_rows_are_filled_and_empty_lines_left_out(root: Root) -> None:
    found = read(root, "a,b,c\n1\n\n1,2,3,4\n")
    assert found is not None
    assert found.head == ["a", "b", "c", ""]
    assert found.rows == [["1", "", "", ""], ["1", "2", "3", "4"]]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [("名,值\n甲,1\n".encode("gb18030"), "gb18030"), ("\ufeffa,b\n1,2\n".encode(), "utf-8-sig")],
)
def test_the_encoding_is_found(root: Root, content: bytes, encoding: str) -> None:
    found = read(root, content)
    assert found is not None
    assert found.encoding == encoding
    assert found.head[0] in ("名", "a")


def test_of_a_large_file_the_beginning_is_shown(root: Root) -> None:
    """The cut goes through a character and a row."""
    found = read(root, "序号,名称\n" + "".join(f"{n},名称名称名称\n" for n in range(80_000)))
    assert found is not None
    assert (len(found.rows), found.more_rows) == (sheets.ROWS, True)


def test_rows_and_columns_end_somewhere(root: Root) -> None:
    exact = read(root, "a,b\n" * (sheets.ROWS + 1))
    assert exact is not None
    assert (len(exact.rows), exact.more_rows) == (sheets.ROWS, False)
    more = read(root, "a,b\n" * (sheets.ROWS + 2))
    assert more is not None
    assert (len(more.rows), more.more_rows) == (sheets.ROWS, True)
    wide = read(root, ",".join("x" * (sheets.COLUMNS + 1)) + "\n" + "y" * 999 + ",1\n")
    assert wide is not None
    assert (len(wide.head), wide.more_columns) == (sheets.COLUMNS, True)
    assert len(wide.rows[0][0]) == sheets.CELL


@pytest.mark.parametrize("content", ["", "one column\nonly\n", '"' + "x" * 200_000 + '",1\n'])
def test_what_is_no_table_is_none(root: Root, content: str) -> None:
    assert read(root, content) is None


def test_binary_is_refused_in_words(root: Root) -> None:
    with pytest.raises(Invalid):
        read(root, b"\x00\x01\x02,\xff\n" * 10)


@pytest.fixture
def alice(people: People) -> Client:
    return signed_in(people.alice)


def test_the_page_shows_a_table_and_its_text(people: People, alice: Client) -> None:
    volume = make_volume(people.actor("alice"))
    put(volumes.root_of(volume), "loss.csv", "step,loss\n1,<b>0.5</b>\n")
    page = f"{reverse('storage:show', args=['volume', volume.pk])}?path=loss.csv"
    shown = text(alice.get(page))
    assert '<th scope="col">loss</th>' in shown
    assert "<td>&lt;b&gt;0.5&lt;/b&gt;</td>" in shown
    assert "As text" in shown
    raw = text(alice.get(f"{page}&raw=1"))
    assert "As table" in raw
    assert "<textarea" in raw
