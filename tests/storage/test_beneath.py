"""Nothing that a person names or a workload plants leads out of its folder."""

import os
import stat
import threading
from pathlib import Path

import pytest

from apps.common.errors import Conflict, Invalid, NotFound
from apps.storage.safe_open import list_folder, open_file, split_path, writing

OUTSIDE = [
    "../secret",
    "a/../../secret",
    "/etc/passwd",
    "\\..\\secret",
    "..\\..\\secret",
    "a/..",
    "c:/windows",
    "a\0b",
    "a\nb",
    "x" * 300,
    "/".join(["deep"] * 400),
    "a/\u202egpj.exe",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    inside = tmp_path / "folder"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "file.txt").write_text("hello")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "door").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    return inside


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_could_leave_are_refused_before_the_disk_is_asked(root: Path, path: str) -> None:
    with pytest.raises(Invalid):
        open_file(root, path)
    with pytest.raises(Invalid), writing(root, path):
        pass


@pytest.mark.parametrize("path", ["link", "door/secret", "pipe", "sub", "none", "sub/none", ""])
def test_links_pipes_and_folders_are_not_files(root: Path, path: str) -> None:
    with pytest.raises(NotFound):
        open_file(root, path)


def test_a_file_is_read_through_any_spelling_of_its_path(root: Path) -> None:
    for path in ("sub/file.txt", "./sub/./file.txt", "sub//file.txt", "sub\\file.txt"):
        with open(open_file(root, path)) as file:
            assert file.read() == "hello"


def test_writing_follows_no_link(root: Path) -> None:
    with pytest.raises(Conflict), writing(root, "link"):
        pass
    with pytest.raises(NotFound), writing(root, "door/new"):
        pass
    assert (root.parent / "secret").read_text() == "secret"


def test_a_listing_shows_folders_and_plain_files_only(root: Path) -> None:
    (root / "a.txt").write_text("12345")
    assert [(item.name, item.is_folder, item.size) for item in list_folder(root)] == [
        ("sub", True, 0),
        ("a.txt", False, 5),
    ]


def test_a_folder_swapped_for_a_link_while_we_look_leads_nowhere(root: Path) -> None:
    """The race that a check followed by an open would lose."""
    (root / "race").mkdir()
    (root / "race" / "secret").write_text("own")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "race", root / "aside")
            os.symlink(root.parent, root / "race")
            os.unlink(root / "race")
            os.rename(root / "aside", root / "race")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _round in range(2000):
            try:
                with open(open_file(root, "race/secret")) as file:
                    assert file.read() == "own"
            except NotFound:
                continue
    finally:
        stop.set()
        thread.join()


def test_a_new_file_is_not_executable_and_its_folders_are_made(root: Path) -> None:
    with writing(root, "new/deep/file.py"):
        pass
    assert not (root / "new/deep/file.py").stat().st_mode & stat.S_IXUSR


def test_the_parts_of_a_path_lose_what_means_nothing() -> None:
    assert split_path("./a//b/.") == ("a", "b")
    assert split_path("数据/模型.bin") == ("数据", "模型.bin")
