"""How the code of two runs differs."""

from pathlib import Path

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.common.scoping import acting
from apps.training.comparing import code_diff as module
from apps.training.comparing.code_diff import (
    MOST_BYTES,
    SHOWN_LINES,
    FileDiff,
    FileState,
    LineKind,
    _text_diff,
    tree_diff,
)
from tests.builders import World, make_member, make_organisation, platform, signed_in
from tests.training.kit import submit, text

LINES = st.lists(st.text(alphabet="ab ", max_size=3), max_size=40)


def tree(root: Path, **files: bytes) -> Path:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def states(base: Path, other: Path) -> dict[str, FileState]:
    return {each.path: each.state for each in tree_diff(base, other).files}


def test_files_of_one_tree_changed_ones_and_binary_ones_are_told_apart(tmp_path: Path) -> None:
    alike = {"same_py": b"x", "data__big_bin": b"\0" * (MOST_BYTES + 1)}
    base = tree(tmp_path / "a", train_py=b"lr = 1\n", old_py=b"", logo_png=b"\0\1", **alike)
    other = tree(tmp_path / "b", train_py=b"lr = 2\n", new__a_py=b"", logo_png=b"\0\2", **alike)
    assert states(base, other) == {
        "logo.png": FileState.BINARY,
        "new/a.py": FileState.ADDED,
        "old.py": FileState.REMOVED,
        "train.py": FileState.CHANGED,
    }
    diff = tree_diff(base, other)
    assert (diff.added, diff.removed, diff.same, diff.complete) == (1, 1, 2, True)


def test_what_is_too_large_is_said_and_not_read_line_by_line(tmp_path: Path) -> None:
    base = tree(tmp_path / "a", big_txt=b"a" * (MOST_BYTES + 1), long_txt=b"a\n" * 3000)
    other = tree(tmp_path / "b", big_txt=b"a" * MOST_BYTES + b"b", long_txt=b"b\n" * 3000)
    assert set(states(base, other).values()) == {FileState.LARGE}


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    base, other = tree(tmp_path / "a", a_py=b"1"), tree(tmp_path / "b", a_py=b"1")
    (other / "link.py").symlink_to(secret)
    assert tree_diff(base, other).files == ()


def test_limits_of_files_and_of_lines_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 1)
    base = tree(tmp_path / "a", a_py=b"", b_py=b"")
    other = tree(tmp_path / "b", a_py=b"x\n" * (SHOWN_LINES + 10), b_py=b"y")
    diff = tree_diff(base, other)
    assert not diff.complete
    (file,) = diff.files
    assert (len(file.lines), file.added, file.left_out) == (SHOWN_LINES, SHOWN_LINES + 10, 11)


def test_a_tree_that_is_gone_is_said(tmp_path: Path) -> None:
    assert tree_diff(tree(tmp_path / "a", a_py=b""), tmp_path / "none").missing


@given(before=LINES, after=LINES)
def test_what_is_shown_leads_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    diff = _text_diff("a", old.encode(), new.encode())
    if before == after:
        assert diff is None
        return
    assert isinstance(diff, FileDiff)
    assert len(after) - len(before) == diff.added - diff.removed
    kept = [line.text for line in diff.lines if line.kind in (LineKind.SAME, LineKind.ADDED)]
    gone = [line.text for line in diff.lines if line.kind in (LineKind.SAME, LineKind.REMOVED)]
    assert is_within(kept, after)
    assert is_within(gone, before)


def is_within(some: list[str], whole: list[str]) -> bool:
    """In the same order, with gaps."""
    rest = iter(whole)
    return all(line in rest for line in some)


@pytest.mark.django_db
def test_the_page_shows_changed_lines_of_the_chosen_two_to_who_sees_the_runs(world: World) -> None:
    runs = [submit(world, name=f"r{k}", text=f"lr = {k}\n<b>\n") for k in (1, 2, 3)]
    asked = {"run": [str(run.pk) for run in runs], "base": str(runs[0].pk), "other": str(runs[2].pk)}
    page = text(signed_in(world.alice).get(reverse("training:compare_code"), asked))
    assert "lr = 3" in page
    assert "lr = 2" not in page
    assert "&lt;b&gt;" in page
    with acting(platform()):
        stranger = signed_in(make_member(make_organisation(), "stranger"))
    assert stranger.get(reverse("training:compare_code"), asked).status_code == 404


@pytest.mark.django_db
def test_runs_with_the_same_code_say_so(world: World) -> None:
    runs = [submit(world, name="a"), submit(world, name="b")]
    asked = {"run": [str(run.pk) for run in runs]}
    fragment = signed_in(world.alice).get(reverse("training:compare_code"), asked, headers={"HX-Request": "true"})
    assert "Both have the same code." in text(fragment)
    assert "<html" not in text(fragment)
