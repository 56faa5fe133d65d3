"""Contract: trees that the program finds as its own as it starts."""

import os
from pathlib import Path
from uuid import uuid4

import pytest

from apps.workloads.drivers.base import ExitReason, LaunchRefused, LaunchRequest
from tests.drivers.kit import Kit

TARGET = "/workspace/output/checkpoints"
LOOKS = "import os, sys; print(sorted(os.listdir(os.environ['PLSTACK_OUTPUT'] + '/checkpoints')))"
WRITES = (
    "import os; here = os.environ['PLSTACK_OUTPUT'] + '/checkpoints/'\n"
    "print(open(here + 'epoch-3').read()); open(here + 'epoch-3', 'w').write('mine')"
)


def saved(kit: Kit) -> Path:
    """A tree with a checkpoint in it, of which the platform has the only copy."""
    folder = kit.output.parent / f"saved-{uuid4().hex}"
    (folder / "deep").mkdir(parents=True)
    (folder / "epoch-3").write_text("theirs")
    (folder / "deep" / "weights").write_bytes(b"x" * 100_000)
    (folder / "latest").symlink_to("epoch-3")
    os.utime(folder / "epoch-3", (1_700_000_000, 1_700_000_000))
    return folder


def asking(kit: Kit, source: str, folder: Path, **changes: object) -> LaunchRequest:
    return kit.python(source, copies=(kit.mount(folder, TARGET),), **changes)


class CopiesContract:
    def test_the_program_finds_a_copy_and_changes_it_alone(self, kit: Kit) -> None:
        folder = saved(kit)
        ended, text = kit.run(asking(kit, WRITES, folder))
        assert ended.succeeded, text
        assert text == "theirs\n"
        assert (folder / "epoch-3").read_text() == "theirs"
        here = kit.output / "checkpoints"
        assert (here / "epoch-3").read_text() == "mine"
        assert (here / "deep" / "weights").stat().st_size == 100_000
        assert os.readlink(here / "latest") == "epoch-3"
        assert sorted(os.listdir(kit.output)) == ["checkpoints"]

    def test_its_times_are_those_of_the_checkpoint(self, kit: Kit) -> None:
        ended, text = kit.run(asking(kit, LOOKS, saved(kit)))
        assert ended.succeeded, text
        assert (kit.output / "checkpoints" / "epoch-3").stat().st_mtime == 1_700_000_000

    def test_what_is_there_already_stays(self, kit: Kit) -> None:
        (kit.output / "checkpoints").mkdir()
        (kit.output / "checkpoints" / "epoch-9").write_text("newer")
        ended, text = kit.run(asking(kit, LOOKS, saved(kit)))
        assert ended.succeeded, text
        assert text == "['epoch-9']\n"

    def test_a_draft_that_was_left_is_removed(self, kit: Kit) -> None:
        (kit.output / ".plstack-copy-old" / "half").mkdir(parents=True)
        ended, text = kit.run(asking(kit, LOOKS, saved(kit)))
        assert ended.succeeded, text
        assert sorted(os.listdir(kit.output)) == ["checkpoints"]

    def test_a_checkpoint_that_is_gone_is_named_and_nothing_runs(self, kit: Kit) -> None:
        ended, _ = kit.run(asking(kit, LOOKS, kit.output.parent / "gone"))
        assert ended.reason is ExitReason.MOUNT_FAILED
        assert "checkpoint" in ended.detail
        assert os.listdir(kit.output) == []

    def test_a_target_elsewhere_is_refused(self, kit: Kit) -> None:
        for target in ("/workspace/code/checkpoints", "/workspace/output/a/b", "/elsewhere"):
            with pytest.raises(LaunchRefused):
                kit.launch(kit.python(LOOKS, copies=(kit.mount(saved(kit), target),)))
