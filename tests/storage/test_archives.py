"""Zip files that people upload: good ones come out whole, bad ones leave a sentence and nothing outside."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from apps.common.errors import Invalid
from apps.storage import archives
from apps.storage.archives import extract_zip


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
