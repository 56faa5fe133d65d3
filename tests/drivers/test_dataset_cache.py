"""The copies of datasets on a machine: within a limit, the oldest use first, and never one that is used."""

import os
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.workloads.drivers.base import MountCopy
from apps.workloads.drivers.local import dataset_cache
from apps.workloads.drivers.local.dataset_cache import DatasetCache, Room, name_of
from apps.workloads.drivers.local.disk_floor import Space
from tests.searching import examples


def keep(cache: DatasetCache, name: str, size: int, at: float) -> None:
    copy = MountCopy("listing", "0" * 64, name, size, 1, 1000)
    assert cache.make_room(name, copy) is Room.ENOUGH
    (cache.draft_of(name) / "tree").mkdir()
    (cache.draft_of(name) / "tree" / "file").write_bytes(b"x" * size)
    cache.finish(name, copy)
    os.utime(cache.complete(name) / "record.json", (at, at))


@pytest.fixture
def cache(tmp_path: Path) -> DatasetCache:
    found = DatasetCache(tmp_path / "home")
    found.folder.mkdir(parents=True)
    return found


def wanting(size: int, cache_mib: int = 1) -> MountCopy:
    return MountCopy("listing", "1" * 64, "new", size, 1, cache_mib)


def names(cache: DatasetCache) -> list[str]:
    return sorted(name for _, _, name in cache.kept())


def test_what_was_used_longest_ago_goes_first_and_never_what_is_used(cache: DatasetCache) -> None:
    for index, name in enumerate(("a", "b", "c")):
        keep(cache, name, 300_000, 1000.0 + index)
    held = cache.hold_tree("a")
    os.utime(cache.complete("a") / "record.json", (900.0, 900.0))
    assert cache.make_room("d", wanting(400_000)) is Room.ENOUGH
    assert names(cache) == ["a", "c"]
    os.close(held)


def test_a_cache_that_is_too_small_or_in_use_keeps_what_it_has(cache: DatasetCache) -> None:
    keep(cache, "a", 900_000, 1000.0)
    assert cache.make_room("d", wanting(2_000_000)) is Room.CACHE_TAKEN
    held = cache.hold_tree("a")
    assert cache.make_room("d", wanting(400_000)) is Room.CACHE_TAKEN
    assert names(cache) == ["a"]
    os.close(held)


def test_room_is_promised_once_and_what_was_abandoned_gives_its_own_back(cache: DatasetCache) -> None:
    lock = cache.try_to_make_tree("d")
    assert lock is not None
    assert cache.make_room("d", wanting(700_000)) is Room.ENOUGH
    assert cache.make_room("e", wanting(700_000)) is Room.CACHE_TAKEN
    os.close(lock)
    assert cache.make_room("e", wanting(700_000)) is Room.ENOUGH
    assert not cache.draft_of("d").exists()


def test_a_disk_without_room_takes_none_whatever_the_limit(
    cache: DatasetCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(cache, "a", 1000, 1000.0)
    full = Space(free=50 << 20, total=1 << 40, free_files=0, total_files=0)
    monkeypatch.setattr(dataset_cache.Space, "of", classmethod(lambda cls, path: full))
    assert cache.make_room("d", wanting(500_000)) is Room.DISK_FULL
    assert names(cache) == []


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_the_cache_keeps_within_its_limit_but_for_what_is_used(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cache = DatasetCache(tmp_path_factory.mktemp("home"))
    cache.folder.mkdir(parents=True)
    held: dict[str, int] = {}
    for step in range(data.draw(st.integers(1, 8))):
        name = f"{step:x}"
        size = data.draw(st.integers(1, 900_000))
        if cache.make_room(name, wanting(size)) is Room.ENOUGH:
            (cache.draft_of(name) / "tree").mkdir()
            cache.finish(name, wanting(size))
            if data.draw(st.booleans()):
                held[name] = cache.hold_tree(name)
        assert sum(size for _, size, _ in cache.kept()) <= 1 << 20
        assert set(held) <= set(names(cache))
    cache.trim(0)
    assert names(cache) == sorted(held)
    for descriptor in held.values():
        os.close(descriptor)


def test_the_report_says_what_is_kept_and_how_fast(cache: DatasetCache) -> None:
    assert cache.report() == {"entries": [], "count": 0, "used_bytes": 0, "bytes_per_s": 0}
    tenant = uuid4()
    copy = replace(wanting(1000), digest="a" * 64)
    keep(cache, name_of(tenant, copy), 1000, 1000.0)
    cache.note_speed(10, 1.0)  # too little to tell anything
    assert cache.bytes_per_s() == 0
    cache.note_speed(4 << 20, 2.0)
    cache.note_speed(8 << 20, 2.0)
    assert cache.report() == {
        "entries": [{"organisation": str(tenant), "digest": "a" * 64, "bytes": 1000}],
        "count": 1,
        "used_bytes": 1000,
        "bytes_per_s": 3 << 20,
    }
