"""A process that fetches and unpacks an image is killed at each of its steps; the next one ends up with all of it."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.workloads.drivers.base import Reference
from apps.workloads.drivers.local.oci import pull
from apps.workloads.drivers.local.oci.store import Store
from tests.drivers.registries import Registry, entry, layer, plain_registry

STEPS = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.utime"})


@pytest.fixture
def server() -> Iterator[Registry]:
    with plain_registry() as found:
        yield found


def pulled(job: pull.Job, kill_at: int) -> int | None:
    """A process of its own fetches it and is killed before step `kill_at`; how many steps it took where it was not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        steps, home = 0, str(job.home)

        def watch(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal steps
            in_home = event != "open" or home in str(arguments[0]) or "/" not in str(arguments[0])
            if event in STEPS and in_home:
                steps += 1
                if steps == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            pull.Pull(job, lambda *_: None).run()
            os.write(writer, f"{steps}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as told:
        text = told.read()
    os.waitpid(child, 0)
    return int(text) if text else None


def contents(tree: Path) -> dict[str, str]:
    found = {}
    for path in tree.rglob("*"):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else path.read_text()
        found[str(path.relative_to(tree))] = kind
    return found


def image_of(server: Registry) -> Reference:
    lower = layer(("a/one", b"1"), ("a/gone", b"2"), entry("link", b"2", "a/one"), entry("hard", b"1", "a/one"))
    return server.image(lower, layer(("a/.wh.gone", b""), ("b/two", b"2")), Cmd=["a"])


def test_killed_at_any_step_the_next_one_has_all_of_it(server: Registry, tmp_path: Path) -> None:
    image = image_of(server)
    whole = pull.Job(image, tmp_path / "whole", server.rules)
    whole.home.mkdir()
    steps = pulled(whole, 0)
    assert steps is not None
    assert steps > 20
    wanted = contents(Store(whole.home).tree(image))
    assert sorted(wanted) == ["a", "a/one", "b", "b/two", "hard", "link"]
    for step in range(1, steps + 1):
        job = pull.Job(image, tmp_path / f"step{step}", server.rules)
        job.home.mkdir()
        assert pulled(job, step) is None, step
        store = Store(job.home)
        if store.has(image):  # what others see is all of it or none
            assert contents(store.tree(image)) == wanted
        assert pulled(job, 0) is not None, step
        assert contents(store.tree(image)) == wanted
        assert list(store.folder.glob(".*")) == []
