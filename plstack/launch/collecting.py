"""Remove from the embedded registry what nothing points to: its own `garbage-collect`, for which it has to be away.

The platform asks by a file and is answered by one (`apps.registry.distribution.collecting`). The registry is ended when
no bytes go through, answers what it was asked, and starts again after the collection, which also empties its memory of
blobs that are gone. Meanwhile the web processes keep requests waiting, as long as a file beside its socket says so.

Blobs of pushes in progress are kept: a manifest that names them lies in the store while it is collected. Whatever is
killed in between leaves at most that behind, which the next collection removes.
"""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from plstack.launch.registry import DRAIN_S, Registry, program
from plstack.launch.registry_store import Store
from plstack.launch.report import Trouble
from plstack.launch.spawn import start_server

ASKED, ANSWERED = "request.json", "result.json"
FOLDER = "registry-collection"
PUSHES, MOVING = "registry-pushes", "moving"  # as in apps.registry.distribution.pushes
KEPT_S = 48 * 3600.0
"""How long a blob that nothing points to is left to who pushes it; unfinished uploads end then, too."""
QUIET_S = 6.0
PATIENCE_S, LONGEST_S, START_S = 600.0, 1800.0, 30.0
_BLOB = re.compile(r"blob eligible for deletion: sha256:([0-9a-f]{64})")
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Step(Enum):
    IDLE = auto()
    WAITING = auto()  # until no bytes go through
    STOPPING = auto()
    COLLECTING = auto()
    STARTING = auto()


@dataclass(slots=True)
class Collector:
    """Call `tick` about once a second; it never raises. Only it ends the registry and starts it while `is_busy`."""

    registry: Registry
    say: Callable[[str], None]
    quiet_s: float = QUIET_S
    step: Step = Step.IDLE
    asked: str = ""
    since: float = 0.0  # of the present step
    away_since: float = 0.0
    problem: str = ""
    process: "subprocess.Popen[bytes] | None" = None
    sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._marker.unlink(missing_ok=True)

    @property
    def store(self) -> Store:
        return Store(self.registry.storage, self.registry.account)

    def is_alive(self) -> bool:
        """Whether the supervisor may leave the registry alone."""
        return self.is_busy or self.registry.is_alive()

    @property
    def is_busy(self) -> bool:
        return self.step not in (Step.IDLE, Step.WAITING)

    def tick(self) -> None:
        steps = {
            Step.IDLE: self._look,
            Step.WAITING: self._wait,
            Step.STOPPING: self._await_end,
            Step.COLLECTING: self._await_collection,
            Step.STARTING: self._await_start,
        }
        try:
            steps[self.step]()
        except (Trouble, OSError, ValueError) as trouble:
            self.say(f"The image registry's collection failed: {trouble}")
            self.problem = "failed"
            self._give_back()

    def abandon(self) -> None:
        """The platform ends: the store is left as it is, which is well."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._marker.unlink(missing_ok=True)

    def _look(self) -> None:
        try:
            asked = json.loads((self._folder / ASKED).read_text())["id"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            (self._folder / ASKED).unlink(missing_ok=True)
            return
        self.asked, self.problem = str(asked), ""
        self._enter(Step.WAITING)
        self._wait()

    def _wait(self) -> None:
        if not self.registry.is_alive():
            return  # the supervisor starts it again first
        if not self._is_moving():
            self._stop()
        elif self._spent() > PATIENCE_S:
            self._answer("busy")

    def _is_moving(self) -> bool:
        try:
            return time.time() - (self._pushes / MOVING).stat().st_mtime < self.quiet_s
        except OSError:
            return False

    def _stop(self) -> None:
        self.sizes = self.store.sizes()
        self._marker.touch(mode=0o644)
        self.away_since = time.monotonic()
        self._enter(Step.STOPPING)
        if self.registry.process is not None:
            self.registry.process.terminate()
        self._await_end()

    def _await_end(self) -> None:
        server = self.registry.process
        if server is not None and not _ended(server):
            if self._spent() <= DRAIN_S + 5:
                return
            server.kill()
            server.wait()
        self._collect()

    def _collect(self) -> None:
        """From here on nobody is told that a blob is there: so the pushes noted until now are all."""
        self._enter(Step.COLLECTING)
        found = program()
        if found is None or not self.store.is_made:
            self._give_back()  # nothing was ever pushed
            return
        self.store.release()
        self.store.keep(self._noted())
        self.log.unlink(missing_ok=True)
        registry = self.registry
        argv = [found, "garbage-collect", registry.configuration]
        self.process = start_server(argv, registry.account, self.log, registry.folder, on_parent_death=signal.SIGTERM)
        self._await_collection()

    def _await_collection(self) -> None:
        if self.process is not None and not _ended(self.process):
            if self._spent() <= LONGEST_S:
                return
            self.process.kill()
            self.process.wait()
            self.problem = "stuck"
        elif self.process is not None and self.process.returncode:
            self.problem = "failed"
        self._give_back()

    def _give_back(self) -> None:
        """The registry, whatever became of the collection."""
        if not self.is_busy:
            self._answer(self.problem)
            return
        with suppress(OSError):
            self.store.release()
        self._enter(Step.STARTING)
        if not self.registry.is_alive():
            try:
                self.registry.start()
            except (Trouble, OSError) as trouble:  # the supervisor tries again
                self.say(str(trouble))
                self._answer(self.problem or "stuck")
                return
        self._await_start()

    def _await_start(self) -> None:
        deadline = time.monotonic() + 0.9
        while time.monotonic() < deadline:
            with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.registry.socket))
                self._answer(self.problem)
                return
            time.sleep(0.02)
        if self._spent() > START_S or not self.registry.is_alive():
            self._answer(self.problem or "stuck")

    def _answer(self, problem: str) -> None:
        removed = self._removed()
        answer = {
            "id": self.asked,
            "problem": problem,
            "blobs": len(removed),
            "freed": sum(self.sizes.get(digest, 0) for digest in removed),
            "away_ms": int((time.monotonic() - self.away_since) * 1000) if self.away_since else 0,
        }
        self.step, self.process, self.sizes, self.away_since = Step.IDLE, None, {}, 0.0
        with suppress(OSError):
            self._marker.unlink(missing_ok=True)
            (self._folder / ASKED).unlink(missing_ok=True)
            draft = self._folder / f"{ANSWERED}.new"
            draft.write_text(json.dumps(answer))
            draft.replace(self._folder / ANSWERED)

    def _removed(self) -> set[str]:
        """What the collection said that it removes, and what is gone."""
        if self.process is None:
            return set()
        with suppress(OSError):
            named = set(_BLOB.findall(self.log.read_text(errors="replace")))
            return {digest for digest in named if not self.store.has(digest)}
        return set()

    def _noted(self) -> list[str]:
        """What pushes in progress count on; those of long ago are forgotten."""
        oldest, found = time.time() - KEPT_S, []
        with suppress(FileNotFoundError), os.scandir(self._pushes) as entries:
            for entry in entries:
                if not _HEX.fullmatch(entry.name):
                    continue
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
                else:
                    found.append(entry.name)
        return sorted(found)

    def _enter(self, step: Step) -> None:
        self.step, self.since = step, time.monotonic()

    def _spent(self) -> float:
        return time.monotonic() - self.since

    @property
    def log(self) -> Path:
        """What the last collection said."""
        return self.registry.layout.logs / "registry-collection.txt"

    @property
    def _folder(self) -> Path:
        return self.registry.layout.home / FOLDER

    @property
    def _pushes(self) -> Path:
        return self.registry.layout.home / PUSHES

    @property
    def _marker(self) -> Path:
        """As in apps.registry.distribution.pushes."""
        return self.registry.socket.with_name(f"{self.registry.socket.name}.collecting")


def _ended(process: "subprocess.Popen[bytes]") -> bool:
    """Waits a moment for it, so that the registry is away for as short as can be."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.9)
    return process.poll() is not None
