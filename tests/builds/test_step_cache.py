"""What a step has changed, put in place elsewhere, makes the same files: whatever the step did."""

import os
import shutil
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.builds.inside import step_cache
from tests.searching import examples

NAMES = st.sampled_from(["a", "b", "a/c", "a/d", "b/c", "a/c/e", "naïve", "a/\udcff"])
MODES = st.sampled_from([0o755, 0o700, 0o555, 0o644, 0o400, 0o000, 0o4755])


def write(root: Path, name: str, mode: int) -> None:
    (root / name).write_bytes(name.encode(errors="surrogateescape") * 3)
    (root / name).chmod(mode)


ACTS = {
    "write": write,
    "append": lambda root, name, _mode: (root / name).open("ab").write(b"more"),
    "folder": lambda root, name, mode: (root / name).mkdir(mode=mode | 0o700),
    "chmod": lambda root, name, mode: (root / name).chmod(mode | (0o700 if (root / name).is_dir() else 0)),
    "link": lambda root, name, _mode: (root / name).symlink_to("a/absent"),
    "hard": lambda root, name, _mode: os.link(root / "a/c", root / name),
    "move": lambda root, name, _mode: (root / name).rename(root / "b/moved"),
    "remove": lambda root, name, _mode: step_cache.remove(str(root / name)),
    "pipe": lambda root, name, _mode: os.mkfifo(root / name),
}
STEPS = st.lists(st.tuples(st.sampled_from(sorted(ACTS)), NAMES, MODES), max_size=12)


def do(root: Path, steps: list[tuple[str, str, int]]) -> None:
    for act, name, mode in steps:
        if (root / name).is_fifo():  # opening one waits
            continue
        try:
            ACTS[act](root, name, mode)
        except (OSError, shutil.Error):  # not there, there already, closed
            continue


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """All but pipes: kind, mode, content or target, which others it is one file with, and when it was changed."""
    found: dict[str, tuple[object, ...]] = {}
    inodes: dict[int, str] = {}
    for path in sorted(root.rglob("*")):
        seen, name = path.lstat(), str(path.relative_to(root))
        mode = stat.S_IMODE(seen.st_mode)
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("folder", mode)
        elif path.is_file():
            path.chmod(mode | 0o400)
            first = inodes.setdefault(seen.st_ino, name)
            found[name] = ("file", mode, path.read_bytes(), first, seen.st_mtime_ns // 10**6)
    return found


@settings(max_examples=examples(60), deadline=None)
@example([("append", "naïve", 0o755)], [("remove", "naïve", 0o755), ("pipe", "naïve", 0o755)])
@given(STEPS, STEPS)
def test_put_in_place_on_what_was_before_it_is_what_the_step_left(
    before: list[tuple[str, str, int]], step: list[tuple[str, str, int]]
) -> None:
    with TemporaryDirectory() as top:
        root, elsewhere, archive = Path(top, "root"), Path(top, "was"), Path(top, "layer.tar")
        root.mkdir()
        do(root, before)
        clone(root, elsewhere)
        places = (str(root),)
        first = step_cache.look(places, frozenset())
        do(root, step)
        second = step_cache.look(places, frozenset())
        with open(archive, "wb") as file:
            step_cache.write(file, *step_cache.differences(first, second, places))
        wanted = tree(root)
        shutil.rmtree(root)
        elsewhere.rename(root)
        step_cache.put_in_place(archive)
        assert tree(root) == wanted


def clone(source: Path, target: Path) -> None:
    """With its hard links, as they are in two runs of the same build."""
    target.mkdir()
    known: dict[int, Path] = {}
    for path in sorted(source.rglob("*")):
        copy, seen = target / path.relative_to(source), path.lstat()
        if path.is_symlink():
            copy.symlink_to(os.readlink(path))
        elif path.is_dir():
            copy.mkdir()
        elif not path.is_file():
            os.mkfifo(copy)
        elif seen.st_ino in known:
            os.link(known[seen.st_ino], copy)
        else:
            known[seen.st_ino] = copy
            mode = stat.S_IMODE(seen.st_mode)
            path.chmod(mode | 0o400)
            copy.write_bytes(path.read_bytes())
            path.chmod(mode)
            copy.chmod(mode)
            os.utime(copy, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    for path in source.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            (target / path.relative_to(source)).chmod(stat.S_IMODE(path.lstat().st_mode))


def test_what_is_mounted_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "mounted").mkdir()
    (tmp_path / "mounted/x").touch()
    (tmp_path / "own").touch()
    seen = step_cache.look((str(tmp_path),), frozenset({str(tmp_path / "mounted")}))
    assert set(seen) == {str(tmp_path / "own")}


def test_a_folder_that_cannot_be_seen_ends_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="absent"):
        step_cache.look((str(tmp_path / "absent"),), frozenset())


def test_more_files_than_it_looks_at_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_cache, "MOST_FILES", 1)
    for name in "ab":
        (tmp_path / name).touch()
    with pytest.raises(OSError, match="more than 1 files"):
        step_cache.look((str(tmp_path),), frozenset())
