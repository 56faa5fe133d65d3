"""Zip files that people upload: good ones come out whole, bad ones leave a sentence and nothing outside."""

import io
import stat
import struct
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.storage import archives
from apps.storage.archives import extract_zip
from tests.searching import examples


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    packed.seek(0)
    return packed


def link(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target.encode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    return folder


def everything_outside(root: Path) -> list[Path]:
    return [path for path in root.parent.rglob("*") if root not in (path, *path.parents)]


def test_files_and_folders_come_out_as_packed(root: Path) -> None:
    assert extract_zip(zipped(("train.py", b"print()"), ("包/数据.txt", b"x" * 100_000)), root) == 2
    assert (root / "train.py").read_bytes() == b"print()"
    assert (root / "包" / "数据.txt").stat().st_size == 100_000


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "..\\evil", "a\nb"])
def test_names_that_leave_the_folder_are_refused(root: Path, name: str) -> None:
    with pytest.raises(Invalid):
        extract_zip(zipped(("good", b"1"), (name, b"2")), root)
    assert everything_outside(root) == []


def test_links_are_refused(root: Path) -> None:
    with pytest.raises(Invalid, match="links"):
        extract_zip(zipped(link("evil", "/etc/passwd")), root)


def test_a_bomb_is_stopped_by_what_comes_out_not_by_what_it_says(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", 1_000_000)
    bomb = zipped(("zeros", b"\0" * 20_000_000)).getvalue()
    size = struct.pack("<I", 20_000_000)
    lying = bomb.replace(size, struct.pack("<I", 10))
    for content in (bomb, lying):
        with pytest.raises(Invalid):
            extract_zip(io.BytesIO(content), root)
    assert sum(path.stat().st_size for path in root.rglob("*")) <= 2_000_000


def test_too_many_files_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_FILES", 3)
    with pytest.raises(Invalid):
        extract_zip(zipped(*((f"{n}", b"") for n in range(4))), root)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"\x1f\x8b\x08" + b"x" * 100])
def test_what_is_no_zip_is_said_in_words(root: Path, content: bytes) -> None:
    with pytest.raises(Invalid, match="damaged"):
        extract_zip(io.BytesIO(content), root)


def test_a_damaged_member_is_said_in_words(root: Path) -> None:
    content = bytearray(zipped(("a", b"hello" * 100)).getvalue())
    content[45] ^= 0xFF
    with pytest.raises(Invalid, match="damaged"):
        extract_zip(io.BytesIO(bytes(content)), root)


def test_a_zip_in_a_zip_stays_a_file(root: Path) -> None:
    """Nothing is unpacked that nobody asked for: nested bombs never go off."""
    inner = zipped(("zeros", b"\0" * 10_000_000)).getvalue()
    for _level in range(5):
        inner = zipped(*((f"{n}.zip", inner) for n in range(3))).getvalue()
    assert extract_zip(io.BytesIO(inner), root) == 3
    assert sum(path.stat().st_size for path in root.iterdir()) < 1_000_000


def directory_of(content: bytes) -> int:
    """Where the archive's directory begins."""
    return content.index(b"PK\x01\x02")


def test_entries_that_share_their_bytes_are_refused(root: Path) -> None:
    """The flat bomb: a directory of many names that all point to the same packed bytes."""
    content = zipped(*((f"{n:04}", b"\0" * 1000) for n in range(50))).getvalue()
    at = directory_of(content)
    entries, end = content[at:].split(b"PK\x01\x02")[1:], content[content.index(b"PK\x05\x06") :]
    shared = b"".join(
        b"PK\x01\x02" + entry.split(b"PK\x05\x06")[0][:38] + b"\0" * 4 + entry[42:46] for entry in entries
    )
    with pytest.raises(Invalid, match="damaged"):
        extract_zip(io.BytesIO(content[:at] + shared + end), root)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    "members",
    [
        [("a", b"1"), ("a", b"2")],
        [("a", b"1"), ("./a", b"2")],
        [("a", b"1"), ("a/b", b"2")],
        [("a/b/c", b"1"), ("a/b", b"2")],
        [("a\\b", b"1"), ("a/b", b"2")],
    ],
)
def test_two_entries_of_one_name_are_refused_before_anything_is_written(
    root: Path, members: list[tuple[str, bytes]]
) -> None:
    with warnings.catch_warnings(action="ignore"), pytest.raises(Invalid, match="one name"):
        extract_zip(zipped(*members), root)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 256, "文" * 86, "a/" * 600 + "b", "a\0b", "c:/x", "\u202egpj.exe", "a\tb"])
def test_names_that_no_disk_should_take_are_refused(root: Path, name: str) -> None:
    content = zipped((name.replace("\0", "\1"), b"1")).getvalue()
    if "\0" in name:  # what writes zips refuses to write this
        content = content.replace(b"a\1b", b"a\0b")
    with pytest.raises(Invalid):
        extract_zip(io.BytesIO(content), root)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_whole_blocks_are_refused(root: Path, method: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("zeros", b"\0" * 1_000_000)
    with pytest.raises(Invalid, match="Deflate"):
        extract_zip(packed, root)


def test_a_directory_that_would_fill_the_memory_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_DIRECTORY", 2000)
    many = zipped(*((f"{n:03}", b"") for n in range(100)))
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it is read"))
    with pytest.raises(Invalid, match="too many"):
        extract_zip(many, root)


@pytest.mark.parametrize("field", range(2, 10))
def test_lies_of_zip64_are_said_in_words(root: Path, field: int) -> None:
    """Each field of the 64-bit end record in turn is a number that no file has."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, archive.open("a", "w", force_zip64=True) as member:
        member.write(b"hello")
    content = bytearray(packed.getvalue())
    end = content.index(b"PK\x05\x06")
    fields = [b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, end - directory_of(bytes(content)), directory_of(bytes(content))]
    fields[field] = (1 << 15) + 1 if field in (2, 3) else (1 << 31) + 7 if field in (4, 5) else (1 << 63) - 1
    record = struct.pack("<4sQ2H2L4Q", *fields)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    tail = b"PK\x05\x06" + b"\xff" * 16 + b"\0\0"
    with suppress(Invalid):
        extract_zip(io.BytesIO(bytes(content[:end]) + record + locator + tail), root)
        assert (root / "a").read_bytes() == b"hello"


@given(st.data())
@settings(max_examples=examples(300))
def test_no_damage_gets_anything_but_words(data: st.DataObject) -> None:
    content = bytearray(zipped(("a.txt", b"hello" * 50), ("sub/b.txt", b"x" * 3000)).getvalue())
    for _change in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with TemporaryDirectory() as folder:
        inside = Path(folder) / "code"
        inside.mkdir()
        with suppress(Invalid):
            extract_zip(io.BytesIO(bytes(content)), inside)
        assert everything_outside(inside) == []
        assert not list(inside.rglob(".plstack-*"))
