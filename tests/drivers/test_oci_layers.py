"""Layers are applied as the image format says, and what is hostile in one reaches nothing outside of its tree."""

import gzip
import io
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.workloads.drivers.local.oci import layers, streams
from tests.drivers.registries import Entry, entry, layer

MOST = 1024 * 1024
DIRECTORY, LINK, HARD = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE


def plainly(data: bytes) -> bytes:
    return data


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("untouched")
    return tmp_path / "root"


def unpack(root: Path, *blobs: bytes, most: int = MOST, most_files: int = 1000) -> layers.Tree:
    taken = 0

    def take(size: int) -> None:
        nonlocal taken
        taken += size
        if taken > most:
            raise streams.TooLarge

    with layers.Tree(root, most_files) as tree:
        for number, blob in enumerate(blobs):
            path = root.parent / f"blob{number}"
            path.write_bytes(blob)
            with streams.opened(path) as stream:
                tree.apply(streams.Forward(stream, take))
    return tree


def untouched(root: Path) -> bool:
    outside = root.parent / "outside"
    return [path.name for path in outside.iterdir()] == ["kept"] and (outside / "kept").read_text() == "untouched"


def test_later_layers_replace_and_hide(root: Path) -> None:
    first = layer(("a/kept", b"1"), ("a/changed", b"1"), ("a/hidden", b"1"), ("b/x", b"1"), ("c", b"file"))
    second = layer(("a/changed", b"2"), ("a/.wh.hidden", b""), (".wh.b", b""), ("e", b"2"))
    tree = unpack(root, first, second)
    found = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
    assert found == {"a/kept": "1", "a/changed": "2", "c": "file", "e": "2"}
    assert (tree.files, tree.size) == (9, 10)


@pytest.mark.parametrize("first_in_layer", [True, False])
def test_an_opaque_folder_hides_what_is_below_it_and_no_more(root: Path, first_in_layer: bool) -> None:
    first = layer(("a/old", b""), ("a/sub/old", b""), ("b/kept", b""))
    new: tuple[Entry, Entry] = ("a/new", b""), ("a/sub/new", b"")
    opaque: Entry = ("a/.wh..wh..opq", b"")
    unpack(root, first, layer(*((opaque, *new) if first_in_layer else (*new, opaque))))
    found = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert found == ["a/new", "a/sub/new", "b/kept"]


def test_links_of_lower_layers_are_followed_inside_alone(root: Path) -> None:
    lower = layer(entry("usr/lib", DIRECTORY), entry("lib", LINK, "usr/lib"), entry("abs", LINK, "/usr/lib"))
    unpack(root, lower, layer(("lib/one", b"1"), ("abs/two", b"2"), entry("three", HARD, "lib/one")))
    assert (root / "usr/lib/one").read_text() == "1"
    assert (root / "usr/lib/two").read_text() == "2"
    assert (root / "three").samefile(root / "usr/lib/one")


@pytest.mark.parametrize("target", ["../outside", "../../../../../outside", "{outside}", "sub/../../outside"])
def test_writing_through_a_link_stays_inside(root: Path, target: str) -> None:
    """As with the image for a root, a link that leads out of it leads to its own top."""
    target = target.format(outside=root.parent / "outside")
    blob = layer(entry("way", LINK, target), ("way/kept", b"hostile"), ("way/.wh.kept", b""), ("way/.wh..wh..opq", b""))
    with pytest.raises(layers.Hostile):
        unpack(root, blob)
    assert untouched(root)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "an absolute path": lambda: layer(("/tmp/outside", b"x")),
    "a path upwards": lambda: layer(("../outside/kept", b"x")),
    "a path upwards in its middle": lambda: layer(("a/../../outside/kept", b"x")),
    "a whiteout upwards": lambda: layer(("a/.wh...", b"")),
    "a whiteout of its own folder": lambda: layer(("a/.wh..", b"")),
    "a whiteout of nothing": lambda: layer((".wh.", b"")),
    "a hard link upwards": lambda: layer(entry("a", HARD, "../outside/kept")),
    "an absolute hard link": lambda: layer(entry("a", HARD, "/etc/passwd")),
    "a hard link through a link": lambda: layer(entry("a", LINK, "/"), entry("b", HARD, "a/outside/kept")),
    "a hard link to a folder": lambda: layer(entry("a", DIRECTORY), entry("b", HARD, "a")),
    "a device": lambda: layer(entry("a", tarfile.BLKTYPE, devmajor=8, devminor=0)),
    "a character device": lambda: layer(entry("etc/mem", tarfile.CHRTYPE, devmajor=1, devminor=1)),
    "a sparse file": lambda: sparse(),
    "a link in a circle": lambda: layer(entry("a", LINK, "b"), entry("b", LINK, "a"), ("a/c", b"")),
    "nesting without end": lambda: layer(("a/" * 300 + "b", b"")),
    "a file as a folder": lambda: layer(("a", b""), ("a/b", b"")),
}


def sparse() -> bytes:
    found = entry("hole")
    found.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 40)}
    found.size = 512
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(found, io.BytesIO(b"1\n0\n512\n".ljust(512, b"\0")))
    return buffer.getvalue()


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_layers_are_refused(root: Path, what: str) -> None:
    with pytest.raises(layers.Hostile):
        unpack(root, HOSTILE[what]())
    assert untouched(root)


def test_what_nothing_inside_may_have_is_left_out(root: Path) -> None:
    suid = entry("bin/su", mode=0o6755)
    suid.pax_headers = {"SCHILY.xattr.security.capability": "\x01\x00\x00\x02"}
    folder = entry("srv", DIRECTORY, mode=0o2777)
    blob = layer(suid, folder, entry("pipe", tarfile.FIFOTYPE), entry("dev/sda", tarfile.BLKTYPE), ("dev/x", b""))
    unpack(root, blob)
    assert stat.S_IMODE((root / "bin/su").stat().st_mode) == 0o755
    assert stat.S_IMODE((root / "srv").stat().st_mode) == 0o777
    assert os.listxattr(root / "bin/su") == []
    assert not (root / "pipe").exists()
    assert sorted(path.name for path in root.iterdir()) == ["bin", "dev", "srv"]
    assert list((root / "dev").iterdir()) == []


def test_a_bomb_ends_at_the_limit(root: Path) -> None:
    zeros = entry("zeros")
    zeros.size = 64 * MOST
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        archive.addfile(zeros, io.BytesIO(bytes(zeros.size)))
    with pytest.raises(streams.TooLarge):
        unpack(root, buffer.getvalue())
    assert (root / "zeros").stat().st_size <= 2 * MOST


def test_zeros_behind_the_end_are_a_bomb_too(root: Path) -> None:
    with pytest.raises(streams.TooLarge):
        unpack(root, gzip.compress(layer(("a", b""), compress=plainly) + bytes(8 * MOST), 1))


def test_an_overlong_header_is_not_read_into_memory(root: Path) -> None:
    found = entry("a")
    found.pax_headers = {"comment": "x" * (2 * MOST)}
    with pytest.raises(streams.Damaged):
        unpack(root, layer(found), most=64 * MOST)


def test_too_many_files_are_too_many(root: Path) -> None:
    with pytest.raises(layers.TooManyFiles):
        unpack(root, layer(*((f"f{number}", b"") for number in range(30))), most_files=20)


@pytest.mark.parametrize(
    "blob", [b"", b"no archive" * 100, layer(("a", b"x" * 5000))[:-40]], ids=["empty", "text", "cut short"]
)
def test_what_is_no_archive_is_an_error(root: Path, blob: bytes) -> None:
    with pytest.raises((tarfile.TarError, streams.Damaged)):
        unpack(root, blob)


def test_times_stay_so_that_compiled_python_is_not_stale(root: Path) -> None:
    found = entry("a.py", mtime=1_700_000_000)
    unpack(root, layer(found))
    assert (root / "a.py").stat().st_mtime == 1_700_000_000
