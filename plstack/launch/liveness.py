"""Decide from the processes' heartbeats which of them are alive but do no work.

Observations are counted, not seconds: while the machine sleeps or is too busy to observe, no process is suspected.
"""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plstack.launch.layout import Layout

POLL_SECONDS = 2.0
# With a proof due every 2 to 5 s and a start of 2 s, a process that hangs is replaced and works within 30 s.
MOST_LOOKS = 9
# Before the first proof: some processes load modules long after the fork.
MOST_LOOKS_AT_START = 45
# After this long without an observation (the database was away, so no process could prove anything) all counts restart.
BLIND_SECONDS = 10.0
# Processes that need neither Redis nor beat to prove their work.
ALONE = frozenset({"web", "gateway", "ssh", "files"})
BEAT = "beat"
SILENT_BEAT = 3


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation: pid and number of proofs by kind of process, and whether Redis answers."""

    heartbeats: Mapping[str, tuple[int, int]]
    redis: bool


@dataclass(frozen=True, slots=True)
class SilentProcess:
    kind: str
    pid: int
    seconds: float


@dataclass(slots=True)
class _ProcessState:
    pid: int
    beats: int | None
    looks: int = 0
    """The number of observations in a row without a new proof."""


def parse_observation(line: Mapping[str, Any]) -> Observation | None:
    """Parse a line of `watch follow`; None if the database was away."""
    if "away" in line:
        return None
    return Observation({kind: (pid, beats) for kind, (pid, beats) in line["heartbeats"].items()}, line["redis"])


@dataclass(slots=True)
class LivenessMonitor:
    """Finds silent processes of one copy of the platform."""

    most_looks: int = MOST_LOOKS
    _known: dict[str, _ProcessState] = field(default_factory=dict)
    _last: float = 0.0

    def observe(self, sight: Observation, pids: Mapping[str, int], now: float) -> list[SilentProcess]:
        """The processes to replace; each is returned once, then its count restarts. `now` is monotonic, in seconds."""
        if now - self._last > BLIND_SECONDS:
            self._known.clear()
        self._last = now
        for kind, pid in pids.items():
            self._update(kind, pid, sight)
        return [self._take_silent(kind) for kind in pids if self._is_silent(self._known[kind])]

    def _is_silent(self, known: _ProcessState) -> bool:
        return known.looks >= (MOST_LOOKS_AT_START if known.beats is None else self.most_looks)

    def _update(self, kind: str, pid: int, sight: Observation) -> None:
        seen_pid, beats = sight.heartbeats.get(kind, (0, 0))
        now = (pid, beats if seen_pid == pid else None)
        known = self._known.get(kind)
        if known is None or (known.pid, known.beats) != now:
            self._known[kind] = _ProcessState(*now)
        elif self._could_prove(kind, sight):
            known.looks += 1

    def _could_prove(self, kind: str, sight: Observation) -> bool:
        """Whether it could have sent a proof: beat needs Redis, and processes with work from beat need both."""
        if kind.partition("-")[0] in ALONE:  # web-2 is another web process
            return True
        beat = self._known.get(BEAT)
        fed = kind == BEAT or beat is None or beat.looks < SILENT_BEAT
        return sight.redis and fed

    def _take_silent(self, kind: str) -> SilentProcess:
        known = self._known[kind]
        seconds, known.looks = known.looks * POLL_SECONDS, 0
        return SilentProcess(kind, known.pid, seconds)


class Watcher:
    """The child process `watch`, which reads the heartbeats: this process has no database driver."""

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

    def record_replacement(self, silent: SilentProcess) -> None:
        try:
            os.write(self.process.stdin.fileno(), f"{silent.kind} {silent.pid} {silent.seconds}\n".encode())  # type: ignore[union-attr]
        except OSError:
            return  # it has ended: the replacement is not recorded

    def close(self) -> None:
        self.process.kill()
        for end in (self.process.stdin, self.process.stdout):
            if end:
                end.close()
        self.process.wait()
