"""Columns of Parquet files: of a real one, of damaged ones, and of whatever somebody calls so."""

import base64
import zlib
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.storage import parquet, volumes
from apps.storage.choices import RootKind
from apps.storage.parquet import Column, Summary
from apps.storage.roots import Root
from apps.storage.thrift_compact import MOST_DEPTH, Malformed, Reader
from tests.builders import signed_in
from tests.storage.conftest import People
from tests.storage.kit import make_volume, put, text

# The end of a file of two rows that pyarrow 26.0.1 has written, without its values.
WRITTEN = (
    "eNqVlM+L00AUx1+nk2wspVjdCQ0U6SVhhe7iFnYRLAteikKQxYMnQcbuaEvTTU2y2/bmQTyIZw+e/AM8efAv8ODZk3+AB/8CT3tw"
    "3iSZTbeNYAhJePN5P+c7Ob7/eJ9R58I5gJYZD0diytktYNSFFhmfACMuaRnxlAeBa/ufb1o3AIDVlHEYRgKYJb/piAcvgIH8JOEE"
    "WB1tiVgkLvhtdEBDNeLzNF71hC/duh/gCkUfnrjb/vtmuwt4sQarMZlgFo2Hwq0xyra7T/Ep1w4wMH8ZM8JMv48G2qLBOE4YSbNs"
    "iUBMxWmeWfLGfCQiwWiau7JAW2W5MQApBEDMDPhzEWAy4ndT9tpELJ+d8+BMRazLMVWlJe9TTUutYhcWU6OJR+kCDXicuB05xetN"
    "CdvUaTsXTQ/acv6uCQ4OnEmzPbAHnvWwzeREZVUAiJAUSbdCUT275z3SVP+26XgUMrqW07hHmn5dKcGtFFfbqOkvZTRk1YYTzf4q"
    "Y+tZZBSDovt23/tALmmbOJInZJVHrejgP4o4OMXw2VRQUBp/Uy2pJZ8yTzT7tYxtZANUGtT47+o/27yrpKnUlKtIuR7ZR95HutKE"
    "dHUGyr3YyE6q1cpCZ/xJVzIe0iseDzKP5eas74yCO+Z8kuUsVp2p/FLZqGgd4ruxVvhaFesh0kOgg7w1r9RR7L2h1RePdOPfzJJR"
    "Z1uuDpOm/2yi7U9bNvUs+YKdzoxHr85EsjuczXZ5FIXzzrmI4nF42ukd7t3Z25cnUZ7g/73hngFwLH+hfwHAn8hm"
)
FILE = zlib.decompress(base64.b64decode("".join(WRITTEN)))


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(RootKind.VOLUME, uuid4(), uuid4(), tmp_path, "volume", "data", writable=True)


def read(root: Root, content: bytes, name: str = "a.parquet") -> Summary | None:
    put(root.path, name, content)
    return parquet.read_summary(root, name)


def ended(footer: bytes) -> bytes:
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def test_a_file_of_arrow_is_read(root: Root) -> None:
    found = read(root, FILE)
    assert found is not None
    assert (found.rows, found.more_columns) == (2, False)
    assert found.columns[:2] == [Column("id", "int64", False), Column("small", "uint8", True)]
    assert [(each.name, each.type) for each in found.columns[2:]] == [
        ("score", "double"), ("half", "float"), ("ok", "bool"), ("text", "string"), ("raw", "binary"), ("day", "date"),
        ("at", "timestamp"), ("price", "decimal(10, 2)"), ("tags", "list"), ("where", "struct"), ("labels", "map"),
        ("hash", "fixed binary(4)"), ("last", "int16"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"", b"PAR1", b"PAR1PAR1" * 2, FILE[:-1], FILE[:-8] + b"\xff\xff\xff\x7fPAR1", FILE[:-8] + b"\0\0\0\0PAR1",
        ended(b"\0" * 20), ended(b"\x1c" * 10_000), ended(b"\x29\xfc\xff\xff\xff\xff\x0f"),
        ended(b"\x15" + b"\xff" * 99),
    ],
)  # fmt: skip
def test_what_is_none_is_none(root: Root, content: bytes) -> None:
    assert read(root, content) is None


@given(st.integers(4, len(FILE) - 9), st.integers(0, 255))
def test_one_byte_that_is_another_does_no_harm(tmp_path_factory: pytest.TempPathFactory, at: int, byte: int) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    root = Root(RootKind.VOLUME, uuid4(), uuid4(), folder, "volume", "data", writable=True)
    found = read(root, FILE[:at] + bytes([byte]) + FILE[at + 1 :])
    assert found is None or len(found.columns) <= parquet.COLUMNS


@given(st.binary(max_size=300))
def test_any_bytes_have_an_end(data: bytes) -> None:
    with suppress(Malformed):
        Reader(data, stop_after=3).read()


def test_depth_and_number_have_an_end() -> None:
    for data in (b"\x1c" * (MOST_DEPTH + 5), b"\x19" + b"\x19" * 100, b"\x19\xf1\xff\xff\xff\x7f"):
        with pytest.raises(Malformed):
            Reader(data, stop_after=9).read()


def test_the_page_shows_columns_and_rows(people: People) -> None:
    alice, volume = signed_in(people.alice), make_volume(people.actor("alice"))
    put(volumes.root_of(volume), "train.parquet", FILE)
    put(volumes.root_of(volume), "fake.parquet", "no table")
    page = reverse("storage:show", args=["volume", volume.pk])
    shown = text(alice.get(f"{page}?path=train.parquet"))
    assert "2 rows" in shown
    assert "decimal(10, 2)" in shown
    assert "no table" in text(alice.get(f"{page}?path=fake.parquet"))


def test_the_types_of_a_text_table_stand_below_its_head(people: People) -> None:
    alice, volume = signed_in(people.alice), make_volume(people.actor("alice"))
    put(volumes.root_of(volume), "a.jsonl", '{"step": 1, "done": true}\n')
    shown = text(alice.get(f"{reverse('storage:show', args=['volume', volume.pk])}?path=a.jsonl"))
    assert "<td>Whole number</td><td>True or false</td>" in shown
