"""Decides from what was seen of the processes' proofs which of them is alive and does nothing.

Looks are counted, not seconds: while the machine sleeps or is so busy that even looking takes long, nobody is accused.
"""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plstack.launch.layout import Layout

POLL_SECONDS = 2.0
# With the next proof due after 2 to 5 s and a start of 2 s, what stands still works again within 30 s.
MOST_LOOKS = 9
# Before the first proof: the modules of some are loaded long after they have been forked.
MOST_LOOKS_AT_START = 45
# After this long without a look (nobody could ask the database, so nobody could prove anything) all begin anew.
BLIND_SECONDS = 10.0
# What needs neither Redis nor beat to prove itself.
ALONE = frozenset({"web", "gateway", "ssh", "files"})
BEAT = "beat"
SILENT_BEAT = 3


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look saw: pid and number of proofs by kind, and whether Redis answers."""

    heartbeats: Mapping[str, tuple[int, int]]
    redis: bool


@dataclass(frozen=True, slots=True)
class Silent:
    kind: str
    pid: int
    seconds: float


@dataclass(slots=True)
class _Known:
    pid: int
    beats: int | None
    looks: int = 0
    """How many looks in a row saw no new proof."""


def looked(line: Mapping[str, Any]) -> Sight | None:
    """A line of `watch follow`; None where the database could not be asked."""
    if "away" in line:
        return None
    return Sight({kind: (pid, beats) for kind, (pid, beats) in line["heartbeats"].items()}, line["redis"])


@dataclass(slots=True)
class Vigil:
    """What is known of each process of one copy."""

    most_looks: int = MOST_LOOKS
    _known: dict[str, _Known] = field(default_factory=dict)
    _last: float = 0.0

    def observe(self, sight: Sight, pids: Mapping[str, int], now: float) -> list[Silent]:
        """Who has to be replaced; each is named once and then has its time again. `now` is monotonic, in seconds."""
        if now - self._last > BLIND_SECONDS:
            self._known.clear()
        self._last = now
        for kind, pid in pids.items():
            self._see(kind, pid, sight)
        return [self._name(kind) for kind in pids if self._is_silent(self._known[kind])]

    def _is_silent(self, known: _Known) -> bool:
        return known.looks >= (MOST_LOOKS_AT_START if known.beats is None else self.most_looks)

    def _see(self, kind: str, pid: int, sight: Sight) -> None:
        seen_pid, beats = sight.heartbeats.get(kind, (0, 0))
        now = (pid, beats if seen_pid == pid else None)
        known = self._known.get(kind)
        if known is None or (known.pid, known.beats) != now:
            self._known[kind] = _Known(*now)
        elif self._could(kind, sight):
            known.looks += 1

    def _could(self, kind: str, sight: Sight) -> bool:
        """Whether it could have proved itself: beat needs Redis, and what beat feeds needs both."""
        if kind in ALONE:
            return True
        beat = self._known.get(BEAT)
        fed = kind == BEAT or beat is None or beat.looks < SILENT_BEAT
        return sight.redis and fed

    def _name(self, kind: str) -> Silent:
        known = self._known[kind]
        seconds, known.looks = known.looks * POLL_SECONDS, 0
        return Silent(kind, known.pid, seconds)


class Watcher:
    """The process that reads the proofs in the database (`watch`), which this one cannot."""

    def __init__(self, layout: Layout, env: Mapping[str, str]) -> None:
        with (layout.logs / "watch.log").open("ab") as output:
            self.process = subprocess.Popen(
                [layout.python, "-m", "plstack.launch.watch", "follow"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, cwd=layout.root, env=dict(env),
                start_new_session=True, bufsize=0,
            )  # fmt: skip
        self.pending = b""
        self.heard_at = time.monotonic()

    def fileno(self) -> int:
        assert self.process.stdout is not None  # noqa: S101  a pipe was asked for
        return self.process.stdout.fileno()

    def receive(self) -> list[str] | None:
        """Complete lines, or None when it has ended."""
        data = os.read(self.fileno(), 65536)
        self.heard_at = time.monotonic()
        *lines, self.pending = (self.pending + data).split(b"\n")
        return [line.decode() for line in lines] if data else None

    def tell(self, silent: Silent) -> None:
        try:
            os.write(self.process.stdin.fileno(), f"{silent.kind} {silent.pid} {silent.seconds}\n".encode())  # type: ignore[union-attr]
        except OSError:
            return  # it has ended: the replacement goes untold

    def close(self) -> None:
        self.process.kill()
        for end in (self.process.stdin, self.process.stdout):
            if end:
                end.close()
        self.process.wait()
