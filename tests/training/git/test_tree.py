"""Where links lead is found as the kernel finds it; what git prints is read as it was written, or refused."""

import io
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.storage.archives import MAX_FILES
from apps.training.git.problems import Failed, Problem
from apps.training.git.tree import Entry, contents, leaving, listed

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TARGETS = st.lists(st.sampled_from(["a", "b", "c", "..", ".", ""]), min_size=1, max_size=6).map("/".join)


def laid(root: Path, links: dict[str, str]) -> dict[str, str]:
    """The links that fit on a disk together: none lies below another one."""
    made = {}
    for path, target in links.items():
        if any(path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in made):
            continue
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        made[path] = target
    return made


def outside(path: Path, root: Path) -> bool:
    """By the kernel's way through it, step by step. Of what is not there, the names decide."""
    return not Path(os.path.realpath(path)).is_relative_to(root)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(PATHS, TARGETS.filter(lambda each: each and not each.startswith("/")), max_size=4))
def test_links_that_stay_stay(links: dict[str, str]) -> None:
    """Whatever is taken leads nowhere else on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "x" / "tree"
        root.mkdir(parents=True)
        made = laid(root, links)
        lost = leaving(made)
        for path in made:
            assert path in lost or not outside(root / path, root)


@pytest.mark.parametrize(
    ("links", "lost"),
    [
        ({"a": "b/c"}, []),
        ({"d/a": "../b"}, []),
        ({"a": "./b//c"}, []),
        ({"a": "nowhere"}, []),
        ({"a": "/b"}, ["a"]),
        ({"a": ".."}, ["a"]),
        ({"d/a": "..", "b": "d/a/.."}, ["b"]),
        ({"a": "b", "b": "a"}, ["a", "b"]),
    ],
)
def test_links(links: dict[str, str], lost: list[str]) -> None:
    assert leaving(links) == lost


def line(path: str = "a.py", mode: str = "100644", size: int | str = 1) -> bytes:
    return f"{mode} blob {'0' * 40} {size}\t{path}\0".encode()


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", Problem.EMPTY_FOLDER),
        (line(mode="160000", size="-"), Problem.EMPTY_FOLDER),
        (line() * (MAX_FILES + 1), Problem.TOO_LARGE),
        (line(size=1 << 40), Problem.TOO_LARGE),
        (line("../a"), Problem.NAME),
        (line("a//b"), Problem.NAME),
        (line("a/.Git/config"), Problem.NAME),
        (line("x/.plstack-1"), Problem.NAME),
        (line(mode="100600"), Problem.BROKEN),
        (b"nonsense\0", Problem.BROKEN),
        (b"100644 blob " + b"0" * 40 + b" 1\t\xff\0", Problem.NAME),
    ],
)
def test_listings_that_are_refused(raw: bytes, problem: Problem) -> None:
    with pytest.raises(Failed) as caught:
        listed(raw)
    assert caught.value.problem is problem


def read(entries: list[Entry], said: bytes) -> list[bytes]:
    return [b"".join(content.chunks()) for _entry, content in contents(entries, io.BytesIO(said))]


@pytest.mark.parametrize("said", [b"", b"x missing\n", b"0 blob 9\nabc\n", b"%s blob 3\nab", b"%s blob 3\nabcd\n"])
def test_contents_that_are_not_what_was_listed(said: bytes) -> None:
    with pytest.raises(Failed):
        read(listed(line(size=3)), said.replace(b"%s", b"0" * 40))


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_contents_are_read_as_they_are(files: list[bytes]) -> None:
    entries = [entry for number, each in enumerate(files) for entry in listed(line(f"f{number}", size=len(each)))]
    said = b"".join(b"%s blob %d\n%s\n" % (b"0" * 40, len(each), each) for each in files)
    assert read(entries, said) == files
