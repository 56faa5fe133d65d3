"""What a machine keeps of images that runs were saved as: what goes, and what must stay whoever is at it."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from apps.workloads.drivers.base import Reference
from apps.workloads.drivers.images import Destination
from apps.workloads.drivers.local.linux import try_lock
from apps.workloads.drivers.local.oci import kept, pushed
from apps.workloads.drivers.local.oci.pushing import Push, Withdrawn

DIGEST = f"sha256:{'a' * 64}"
IMAGE = Reference("registry.lab:5000/team/torch", DIGEST)
TO = Destination("registry.test/lab/mine", "1")


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """One that was saved an hour ago."""
    made = tmp_path / "saved" / ("a" * 64)
    (made / "blobs" / "sha256").mkdir(parents=True)
    (made / "index.json").write_text("{}")
    return aged(made, 3600)


def aged(path: Path, seconds: float) -> Path:
    before = time.time() - seconds
    os.utime(path, (before, before))
    return path


def sending_folder(home: Path) -> Path:
    folder = pushed._folder(home, IMAGE, TO)
    folder.mkdir(parents=True)
    return folder


def test_what_was_saved_long_ago_is_listed_and_goes(tmp_path: Path, layout: Path) -> None:
    assert kept.digests(tmp_path, 7200) == []
    assert kept.digests(tmp_path, 60) == [DIGEST]
    assert kept.drop(tmp_path, DIGEST, 60)
    assert not layout.exists()
    assert kept.drop(tmp_path, DIGEST, 60), "it is gone already"
    assert kept.digests(tmp_path / "nowhere", 0) == []


def test_what_is_no_digest_removes_nothing(tmp_path: Path, layout: Path) -> None:
    assert kept.drop(tmp_path, "sha256:../saved", 0)
    assert layout.exists()


def test_what_is_saved_again_meanwhile_stays(tmp_path: Path, layout: Path) -> None:
    draft = tmp_path / "saved" / ".new-1"
    draft.mkdir()
    kept.keep(draft, layout)
    assert draft.exists(), "it is there already"
    assert not kept.drop(tmp_path, DIGEST, 60)
    assert (layout / "index.json").exists()


def test_what_is_being_sent_stays(tmp_path: Path, layout: Path) -> None:
    lock = try_lock(sending_folder(tmp_path) / pushed.LOCK)
    assert lock is not None
    assert not kept.drop(tmp_path, DIGEST, 60)
    os.close(lock)
    assert kept.drop(tmp_path, DIGEST, 60)


def test_a_layer_that_another_image_has_too_stays_with_it(tmp_path: Path, layout: Path) -> None:
    blob = layout / "blobs" / "sha256" / ("c" * 64)
    blob.write_text("layer")
    other = tmp_path / "saved" / ("b" * 64) / "blobs" / "sha256"
    other.mkdir(parents=True)
    os.link(blob, other / blob.name)
    assert kept.drop(tmp_path, DIGEST, 60)
    assert (other / blob.name).read_text() == "layer"


def test_drafts_of_the_dead_are_cleared_up_and_those_of_the_living_stay(tmp_path: Path, layout: Path) -> None:
    folder = tmp_path / "saved"
    for name, age in ((".new-old", 2 * kept.DRAFT_S), (".new-young", 60), (".gone-1", 0)):
        (folder / name).mkdir()
        aged(folder / name, age)
    live = sending_folder(tmp_path)
    lock = try_lock(live / pushed.LOCK)
    dead = live.with_name(f"{'a' * 64}.0.push")
    dead.mkdir()
    aged(live, 2 * kept.DRAFT_S)
    aged(dead, 2 * kept.DRAFT_S)
    kept.clear_up(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == sorted([".new-young", live.name, layout.name])
    assert lock is not None
    os.close(lock)


def test_an_image_is_never_lost_between_saving_it_and_removing_it(tmp_path: Path) -> None:
    """Two threads at once: whoever was told that it was kept finds it whole."""
    final = tmp_path / "saved" / ("a" * 64)
    final.parent.mkdir()
    over = threading.Event()

    def remove() -> None:
        while not over.is_set():
            kept.drop(tmp_path, DIGEST, 3600)

    thread = threading.Thread(target=remove)
    thread.start()
    try:
        for number in range(30):
            draft = final.with_name(f".new-{number}")
            draft.mkdir()
            if final.exists():
                aged(final, 7200)
            kept.keep(draft, final)
            assert final.is_dir()
    finally:
        over.set()
        thread.join()


def test_what_nobody_sends_is_withdrawn_at_once_and_forgotten(tmp_path: Path, layout: Path) -> None:
    assert pushed.withdraw(tmp_path, IMAGE, TO), "nobody has ever sent it"
    folder = sending_folder(tmp_path)
    (folder / pushed.STATE).write_text(json.dumps({"done": True}))
    assert pushed.withdraw(tmp_path, IMAGE, TO)
    assert not folder.exists()
    assert layout.exists()


def test_what_is_being_sent_is_told_first(tmp_path: Path, layout: Path) -> None:
    """Its sender is another process: here one that ends once it hears of it."""
    folder = sending_folder(tmp_path)
    waits = (
        "import fcntl, os, pathlib, sys, time; folder = pathlib.Path(sys.argv[1]); "
        "fd = os.open(folder / 'lock', os.O_RDWR | os.O_CREAT); fcntl.flock(fd, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "while not (folder / 'withdrawn').exists(): time.sleep(0.01)"
    )
    sender = subprocess.Popen([sys.executable, "-c", waits, str(folder)], stdout=subprocess.PIPE)
    assert sender.stdout is not None
    assert sender.stdout.readline() == b"held\n"
    assert not pushed.withdraw(tmp_path, IMAGE, TO)
    assert sender.wait(30) == 0
    sender.stdout.close()
    assert pushed.withdraw(tmp_path, IMAGE, TO)
    assert not folder.exists()


def test_a_sender_looks_before_it_sets_the_tag() -> None:
    push = Push.__new__(Push)
    push._is_withdrawn = lambda: True
    with pytest.raises(Withdrawn):
        push._refuse_withdrawn()
