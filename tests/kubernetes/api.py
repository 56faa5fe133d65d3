"""An API server of one collection, as far as lists and watches go."""

import json
import threading
from collections.abc import Iterator
from typing import Any

from kubernetes.client import ApiException
from urllib3.exceptions import ProtocolError


class Answer:
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self) -> bytes:
        return b"".join(self._pieces)

    def stream(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        pass


class Server:
    """`breaks`: each of the next so many watches ends before its time. `compacted`: versions up to it are gone."""

    def __init__(self) -> None:
        self.version = 100
        self.objects: dict[str, dict[str, Any]] = {}
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.lists = self.watches = self.breaks = self.compacted = 0
        self.refused = 0
        self.is_away = False
        self._lock = threading.RLock()

    def put(self, name: str, value: int = 0) -> None:
        with self._lock:
            kind = "MODIFIED" if name in self.objects else "ADDED"
            self.version += 1
            self.objects[name] = {"metadata": {"name": name, "resourceVersion": str(self.version)}, "value": value}
            self.events.append((self.version, {"type": kind, "object": self.objects[name]}))

    def remove(self, name: str) -> None:
        with self._lock:
            gone = self.objects.pop(name, None)
            if gone is not None:
                self.version += 1
                last = {"metadata": {"name": name, "resourceVersion": str(self.version)}, "value": gone["value"]}
                self.events.append((self.version, {"type": "DELETED", "object": last}))

    def restore(self, version: int, objects: dict[str, int]) -> None:
        """As its operators do from a backup: what came after it never was."""
        with self._lock:
            self.version, self.events = version, []
            self.objects = {
                name: {"metadata": {"name": name, "resourceVersion": str(version)}, "value": value}
                for name, value in objects.items()
            }

    def fetch(self, *, watch: bool = False, resource_version: str = "", **how: Any) -> Answer:
        with self._lock:
            if self.is_away:
                self.refused += 1
                raise ProtocolError("connection refused")
            if not watch:
                return self._list(how["limit"], how["_continue"])
            self.watches += 1
            if int(resource_version) < self.compacted:
                raise ApiException(status=410, reason="Gone")
            return Answer(self._stream(int(resource_version)))

    def _list(self, limit: int, following: str | None) -> Answer:
        start = int(following or 0)
        self.lists += start == 0
        items = list(self.objects.values())
        meta: dict[str, str] = {"resourceVersion": str(self.version)}
        if start + limit < len(items):
            meta["continue"] = str(start + limit)
        page = json.dumps({"metadata": meta, "items": items[start : start + limit]}).encode()
        return Answer(iter([page]))

    def _stream(self, after: int) -> Iterator[bytes]:
        """What there is to tell, in pieces that no line ends with, and a bookmark where there is none later."""
        told = [event for version, event in self.events if version > after]
        if self.version > after:
            told.append({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self.version)}}})
        if self.breaks:
            self.breaks -= 1
            yield from _pieces(told[: len(told) // 2])
            raise ProtocolError("broken off")
        yield from _pieces(told)


def _pieces(events: list[dict[str, Any]]) -> Iterator[bytes]:
    text = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    for start in range(0, len(text), 37):
        yield text[start : start + 37]
