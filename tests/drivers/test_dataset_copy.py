"""One copy of a dataset: whole, checked, resumed wherever it was cut off, and patient with its storage."""

import errno
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.workloads.drivers.base import Progress
from apps.workloads.drivers.local import dataset_copy
from apps.workloads.drivers.local.mounting import MountFailed
from apps.workloads.drivers.said import Code
from tests.drivers.datasets import FILES, contents, making, published
from tests.searching import examples


class GaveUp(Exception):
    pass


def test_a_copy_is_the_tree_with_its_folders_and_modes(tmp_path: Path) -> None:
    tree, copy = published(tmp_path)
    job = making(tmp_path, tree, copy)
    job.run()
    made = job.draft / "tree"
    assert contents(made) == FILES
    assert (made / "empty").is_dir()
    assert (made / "run.sh").stat().st_mode & 0o777 == 0o555
    assert (made / "big").stat().st_mode & 0o777 == 0o444


def test_progress_says_how_much_and_how_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_copy, "TELL_S", 0.0)
    monkeypatch.setattr(dataset_copy, "CHUNK", 100_000)
    tree, copy = published(tmp_path)
    told: list[Progress] = []
    job = making(tmp_path, tree, copy, report=told.append)
    job.began -= 2.0
    job.run()
    assert [each.said.code for each in told] == [Code.COPYING_DATASET] * len(told)
    shares = [each.fraction or 0.0 for each in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert len(set(shares)) > 5
    assert told[0].left_s is None
    assert told[len(told) // 2].left_s
    assert told[-1].left_s == 0.0


@settings(max_examples=examples(25), deadline=None)
@given(stops=st.lists(st.integers(0, 14), max_size=5))
def test_given_up_anywhere_the_next_ones_go_on_and_end_with_all_of_it(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int]
) -> None:
    tmp_path = tmp_path_factory.mktemp("copy")
    tree, copy = published(tmp_path)
    before, dataset_copy.CHUNK = dataset_copy.CHUNK, 100_000
    fetched = 0
    try:
        for stop in stops:
            left = iter(range(stop))

            def tick(left: Iterator[int] = left) -> None:
                if next(left, None) is None:
                    raise GaveUp

            job = making(tmp_path, tree, copy, tick=tick)
            with suppress(GaveUp):
                job.run()
            fetched += job.fetched
        last = making(tmp_path, tree, copy)
        last.run()
    finally:
        dataset_copy.CHUNK = before
    assert contents(last.draft / "tree") == FILES
    listing = (tmp_path / copy.listing).stat().st_size
    assert fetched + last.fetched <= copy.size + (len(stops) + 1) * listing  # nothing of it is fetched twice


def test_what_an_earlier_start_left_is_hashed_and_what_is_wrong_of_it_fetched_anew(tmp_path: Path) -> None:
    tree, copy = published(tmp_path)
    job = making(tmp_path, tree, copy)
    (job.draft / "tree" / "a").mkdir(parents=True)
    (job.draft / "tree" / "a" / "one").write_bytes(b"fi")
    (job.draft / "tree" / "big").write_bytes(b"x" * 5000)
    (job.draft / "tree" / "run.sh").write_bytes(b"longer than it should be")
    job.run()
    assert contents(job.draft / "tree") == FILES


@pytest.mark.parametrize("content", [b"fir$t", b"fir", b"firsts", b""])
def test_a_damaged_file_is_named_and_not_kept(tmp_path: Path, content: bytes) -> None:
    tree, copy = published(tmp_path)
    (tree / "a" / "one").write_bytes(content)
    job = making(tmp_path, tree, copy)
    if content == b"firsts":  # what comes after its end is not read
        job.run()
        assert contents(job.draft / "tree") == FILES
        return
    with pytest.raises(MountFailed) as failed:
        job.run()
    assert failed.value.said.code is Code.DATASET_DAMAGED
    assert failed.value.said.params["path"] == "a/one"
    assert not (job.draft / "tree" / "a" / "one").exists()


def test_a_listing_that_was_changed_or_leads_outside_is_not_believed(tmp_path: Path) -> None:
    tree, copy = published(tmp_path)
    with open(tmp_path / copy.listing, "a") as listing:
        listing.write(json.dumps(["more", 1, "00", False]) + "\n")
    with pytest.raises(MountFailed) as failed:
        making(tmp_path, tree, copy).run()
    assert failed.value.said.code is Code.DATASET_DAMAGED
    for path in ("/etc/x", "../x", "a/../../x"):
        (tmp_path / copy.listing).write_text(json.dumps([path, 1, "00", False]) + "\n")
        digest = hashlib.sha256((tmp_path / copy.listing).read_bytes()).hexdigest()
        with pytest.raises(MountFailed):
            making(tmp_path, tree, replace(copy, digest=digest)).run()
    assert not (tmp_path / "home" / "x").exists()


def test_while_the_storage_is_away_it_waits_and_then_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_copy, "LOOK_S", 0.01)
    monkeypatch.setattr(dataset_copy, "CHUNK", 100_000)
    tree, copy = published(tmp_path)
    marker, aside = tmp_path / ".plstack-root", tmp_path / "aside"
    marker.touch()
    told: list[Code] = []

    def tick() -> None:
        if job.fetched > 300_000 and not told.count(Code.WAITING_FOR_STORAGE) and tree.exists():
            marker.unlink()
            tree.rename(aside)

    def report(progress: Progress) -> None:
        told.append(progress.said.code)
        if told.count(Code.WAITING_FOR_STORAGE) == 5 and aside.exists():
            aside.rename(tree)
            marker.touch()

    job = making(tmp_path, tree, copy, tick=tick, report=report, marker=marker)
    job.run()
    assert told.count(Code.WAITING_FOR_STORAGE) >= 5
    assert contents(job.draft / "tree") == FILES


def test_storage_that_stays_away_and_files_that_are_gone_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_copy, "LOOK_S", 0.01)
    tree, copy = published(tmp_path)
    (tree / "big").unlink()
    with pytest.raises(MountFailed) as failed:
        making(tmp_path, tree, copy).run()
    assert failed.value.said.code is Code.DATASET_MISSING
    away = making(tmp_path, tree, copy, marker=tmp_path / "gone", patience_s=0.05)
    with pytest.raises(FileNotFoundError):
        away.run()


def test_a_full_disk_while_it_copies_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, copy = published(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(dataset_copy, "_write_all", full)
    with pytest.raises(OSError, match="No space"):
        making(tmp_path, tree, copy).run()
