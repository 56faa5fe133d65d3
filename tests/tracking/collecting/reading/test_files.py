"""Files of metrics: event files, JSON, JSON lines and CSV, as they grow and as they are written anew."""

import json
import struct
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tracking.collecting.reading.checksums import crc32c, masked
from apps.tracking.collecting.reading.files import FileState, Format, OpenFile, format_of, prefix_of, read_file
from apps.tracking.points import Point

Read = tuple[str, float, int | None]


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def record(data: bytes) -> bytes:
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked(head)) + data + struct.pack("<I", masked(data))


def scalar(tag: str, value: float, step: int, at: float = 1_700_000_000.0) -> bytes:
    simple = field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    event = b"\x09" + struct.pack("<d", at) + b"\x10" + varint(step) + field(5, field(1, simple))
    return record(event)


def tensor(tag: str, value: float, step: int, plugin: str = "scalars") -> bytes:
    content = b"\x08\x01" + field(4, struct.pack("<f", value))
    metadata = field(9, field(1, field(1, plugin.encode())))
    return record(b"\x10" + varint(step) + field(5, field(1, field(1, tag.encode()) + metadata + field(8, content))))


def read(
    kind: Format, data: bytes, state: FileState, *, changed: float = 1.0, ended: bool = False, most: int = 1 << 20
) -> list[Read]:
    file = OpenFile(lambda offset, count: data[offset : offset + count], len(data), changed)
    return plain(read_file(kind, file, state, most_bytes=most, ended=ended))


def plain(points: Iterable[Point]) -> list[Read]:
    return [(point.name, round(point.value, 6), point.step) for point in points]


def test_the_checksum_is_that_of_tfrecord() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_scalars_of_both_kinds() -> None:
    data = record(b"\x1a\x0dbrain.Event:2") + scalar("loss", 0.5, 3) + tensor("acc", 0.25, 4)
    assert read(Format.EVENTS, data, FileState()) == [("loss", 0.5, 3), ("acc", 0.25, 4)]


def test_what_is_no_scalar_is_passed_over() -> None:
    data = (
        tensor("text", 1.0, 1, plugin="text") + record(b"\x2a" + varint(300_000) + b"x" * 300_000) + scalar("a", 1, 2)
    )
    assert read(Format.EVENTS, data, FileState()) == [("a", 1.0, 2)]


@given(st.lists(st.integers(min_value=0, max_value=400), max_size=8))
def test_event_files_are_read_while_they_are_written(cuts: list[int]) -> None:
    data = b"".join(scalar("loss", step, step) for step in range(6))
    state, found = FileState(), list[Read]()
    for end in (*sorted(cut % len(data) for cut in cuts), len(data)):
        state = FileState.from_json(json.loads(json.dumps(state.as_json())))
        found += read(Format.EVENTS, data[:end], state, changed=float(end))
    assert found == [("loss", float(step), step) for step in range(6)]


def test_a_turn_is_bounded_and_the_next_goes_on() -> None:
    data, state = b"".join(scalar("loss", step, step) for step in range(100)), FileState()
    first = read(Format.EVENTS, data, state, most=500)
    assert 0 < len(first) < 100
    assert len(first) + len(read(Format.EVENTS, data, state)) == 100


@pytest.mark.parametrize("place", [3, 9, 20])
def test_damage_ends_the_reading_of_a_file(place: int) -> None:
    whole, state = scalar("loss", 1, 1), FileState()
    broken = bytearray(scalar("loss", 2, 2))
    broken[place] ^= 0xFF
    found = read(Format.EVENTS, whole + bytes(broken) + scalar("loss", 3, 3), state)
    assert found == [("loss", 1.0, 1)]
    assert state.damaged


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    for kind in Format:
        read(kind, data, FileState(), ended=True)
    read(Format.EVENTS, record(data), FileState(), ended=True)


def test_csv_that_grows() -> None:
    state = FileState()
    assert read(Format.CSV, b"epoch,loss,val_loss\n1,0.5,\n2,0.", state) == [("loss", 0.5, 1)]
    assert read(Format.CSV, b"epoch,loss,val_loss\n1,0.5,\n2,0.4,0.6\n", state, changed=2.0) == [
        ("loss", 0.4, 2),
        ("val_loss", 0.6, 2),
    ]


def test_csv_that_is_written_anew_with_another_column() -> None:
    """As Lightning does when a metric appears: what was read is not read again."""
    state = FileState()
    read(Format.CSV, b"step,loss\n1,0.5\n2,0.4\n", state)
    anew = b"step,loss,acc\n1,0.5,\n2,0.4,\n3,0.3,0.9\n"
    assert read(Format.CSV, anew[:12], state, changed=2.0) == []  # caught while it is written
    assert read(Format.CSV, anew, state, changed=3.0) == []  # perhaps still
    assert read(Format.CSV, anew, state, changed=3.0) == [("loss", 0.3, 3), ("acc", 0.9, 3)]


def test_json_lines() -> None:
    data = b'{"step": 1, "loss": 0.5, "eval": {"acc": 0.7}}\n{"name": "lr", "value": 0.1, "step": 2}\nno json\n'
    assert read(Format.LINES, data, FileState()) == [("loss", 0.5, 1), ("eval/acc", 0.7, 1), ("lr", 0.1, 2)]


def test_a_document_that_is_written_anew() -> None:
    state = FileState()
    assert read(Format.DOCUMENT, b'{"accuracy": 0.5}', state) == [("accuracy", 0.5, None)]
    assert read(Format.DOCUMENT, b'{"accuracy": 0.5}', state, changed=2.0) == []
    assert read(Format.DOCUMENT, b'{"accuracy": 0.6}', state, changed=3.0) == [("accuracy", 0.6, None)]


def test_histories_of_keras_and_of_the_trainer() -> None:
    assert read(Format.DOCUMENT, b'{"loss": [0.5, 0.4]}', FileState()) == [("loss", 0.5, 0), ("loss", 0.4, 1)]
    state = FileState()
    rows = [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.4}]
    assert read(Format.DOCUMENT, json.dumps({"log_history": rows[:1]}).encode(), state) == [("loss", 0.5, 1)]
    assert read(Format.DOCUMENT, json.dumps({"log_history": rows}).encode(), state, changed=2.0) == [("loss", 0.4, 2)]


def test_which_files_are_read_and_what_their_folders_add() -> None:
    assert format_of("events.out.tfevents.1700000000.host.1.0") is Format.EVENTS
    assert format_of("metrics.csv") is Format.CSV
    assert format_of("data.csv") is None
    assert prefix_of(("logs", "validation")) == "validation/"
    assert prefix_of(("lightning_logs", "version_0")) == ""
    assert prefix_of(("runs", "Nov27_12-00-00_host")) == ""
