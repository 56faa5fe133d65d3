"""Volumes, files and what pages say, for storage's tests."""

from pathlib import Path
from typing import Any

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.storage import listing, volumes, working
from apps.storage.models import Volume
from apps.storage.roots import Root, row_of
from tests.builders import platform


def make_volume(actor: Actor, name: str = "work", size_mib: int = 100) -> Volume:
    with acting(actor):
        return volumes.create(actor, name=name, size_mib=size_mib)


def put(root: Path, path: str, content: str | bytes = "hello") -> Path:
    """A file that is simply there, as a program would have written it."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def text(response: Any) -> str:
    if getattr(response, "streaming", False):
        return body(response).decode()
    content: bytes = response.content
    return content.decode()


def body(response: Any) -> bytes:
    """All bytes of a streamed answer."""
    return b"".join(response)


def names(root: Root, path: str = "", **how: str) -> list[str]:
    return [entry.name for entry in listing.page_of(root.path, path, **how).entries]  # type: ignore[arg-type]


def used(root: Root, actor: Actor) -> int:
    with acting(actor):
        return row_of(root).used_bytes


def work() -> None:
    with acting(platform()):
        working.run_due_jobs()
