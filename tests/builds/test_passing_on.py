"""What a stage passes on is found in its own files alone, and makes the same files where it is put."""

import os
import stat
from pathlib import Path

import pytest

from apps.builds.inside import passing_on


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of a root, in which `mounted` stands for what the platform mounts."""
    root = tmp_path / "stage"
    for folder in ("out/sub", "mounted", "hidden", "closed"):
        (root / folder).mkdir(parents=True)
    (root / "out/tool").write_bytes(b"tool")
    (root / "out/tool").chmod(0o755)
    (root / "out/.dot").write_bytes(b"dot")
    (root / "out/sub/a.so").write_bytes(b"a")
    os.link(root / "out/sub/a.so", root / "out/sub/b.so")
    (root / "out/absolute").symlink_to("/etc/absent")
    (root / "link").symlink_to("out/tool")
    (root / "mounted/secret").write_bytes(b"secret")
    (root / "to-mounted").symlink_to(root / "mounted")
    os.mkfifo(root / "pipe")
    monkeypatch.setattr(passing_on.step_cache, "mounts", lambda: (frozenset({str(root / "mounted")}), ("/",)))
    return root


def taken(stage: Path, tmp_path: Path, *paths: str, target: str, mode: int | None = None) -> Path:
    archive = tmp_path / "0.tar"
    archive.unlink(missing_ok=True)
    passing_on.leave([f"{stage}/{path}" for path in paths], archive, hidden=str(stage / "hidden"))
    place = tmp_path / "taker"
    passing_on.put_in_place(archive, f"{place}/{target}", mode)
    return place


def test_a_file_goes_to_its_target_or_into_the_folder(stage: Path, tmp_path: Path) -> None:
    assert (taken(stage, tmp_path, "out/tool", target="bin/other") / "bin/other").read_bytes() == b"tool"
    found = taken(stage, tmp_path, "out/tool", target="opt/")
    assert stat.S_IMODE((found / "opt/tool").stat().st_mode) == 0o755
    several = taken(stage, tmp_path, "out/sub/*.so", target="lib")
    assert sorted(os.listdir(several / "lib")) == ["a.so", "b.so"]
    assert (several / "lib/a.so").stat().st_ino == (several / "lib/b.so").stat().st_ino


def test_of_a_folder_goes_what_is_in_it_with_links_as_they_are(stage: Path, tmp_path: Path) -> None:
    found = taken(stage, tmp_path, "out", target="all") / "all"
    assert sorted(os.listdir(found)) == [".dot", "absolute", "sub", "tool"]
    assert os.readlink(found / "absolute") == "/etc/absent"
    assert (found / "sub/b.so").stat().st_nlink == 2
    assert (found / "tool").stat().st_mtime == pytest.approx((stage / "out/tool").stat().st_mtime, abs=0.001)


def test_a_link_that_is_named_stands_for_what_it_leads_to(stage: Path, tmp_path: Path) -> None:
    found = taken(stage, tmp_path, "link", target="bin/") / "bin/link"
    assert not found.is_symlink()
    assert found.read_bytes() == b"tool"


def test_the_mode_that_is_asked_for_is_that_of_all_files(stage: Path, tmp_path: Path) -> None:
    found = taken(stage, tmp_path, "out", target="all", mode=0o600) / "all"
    assert {stat.S_IMODE((found / name).stat().st_mode) for name in ("tool", "sub/a.so")} == {0o600}


def test_what_is_there_is_written_over_but_no_folder(stage: Path, tmp_path: Path) -> None:
    (tmp_path / "taker/all").mkdir(parents=True)
    (tmp_path / "taker/all/tool").write_bytes(b"old")
    (tmp_path / "taker/all/kept").write_bytes(b"kept")
    found = taken(stage, tmp_path, "out", target="all") / "all"
    assert ((found / "tool").read_bytes(), (found / "kept").read_bytes()) == (b"tool", b"kept")
    with pytest.raises(passing_on.Refused, match="is a folder already"):
        taken(stage, tmp_path, "out/tool", target="all")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("absent", "is not in the stage"),
        ("out/absolute", "is not in the stage"),
        ("*.cfg", "is not in the stage"),
        ("mounted/secret", "none of the stage's files"),
        ("to-mounted/secret", "none of the stage's files"),
        ("hidden", "none of the stage's files"),
        ("pipe", "neither a file nor a folder"),
    ],
)
def test_what_is_not_the_stages_own_is_refused(stage: Path, tmp_path: Path, path: str, words: str) -> None:
    with pytest.raises(passing_on.Refused, match=words):
        taken(stage, tmp_path, path, target="x")


def test_a_whole_stage_goes_without_what_is_mounted_in_it(stage: Path, tmp_path: Path) -> None:
    found = taken(stage, tmp_path, ".", target="all") / "all"
    assert sorted(os.listdir(found)) == ["closed", "link", "out", "to-mounted"]


def test_what_steps_have_planted_in_the_folder_goes_first(tmp_path: Path) -> None:
    folder = tmp_path / "0"
    (folder / "deep/er").mkdir(parents=True)
    (folder / "0.tar").symlink_to("/etc/passwd")
    passing_on.clear(folder)
    passing_on.note_cached(folder, 3)
    assert os.listdir(folder) == ["cached.json"]
    assert (passing_on.cached_before(tmp_path, 1), passing_on.cached_before(tmp_path, 0)) == (3, 0)
