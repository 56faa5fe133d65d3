"""Keeps the platform's processes running, and ends them in an orderly way."""

import json
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from plstack.launch.backoff import Backoff
from plstack.launch.files import cap, tail
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble
from plstack.launch.reserve import Reserve
from plstack.launch.spawn import last_line
from plstack.launch.vigil import Silent, Vigil, Watcher, looked

# Producers before consumers, and the page last, so that it can still say what is going on.
STOPPED_IN_ORDER = {
    "beat": 5.0,
    "scheduler": 15.0,
    "worker": 15.0,
    "files": 8.0,
    "ssh": 3.0,
    "gateway": 8.0,
    "web": 8.0,
}
TICK_SECONDS = 1.0
LOG_CHECK_SECONDS = 30.0
ANSWER_SECONDS = 30.0  # within which the zygote does what it is told
WATCH_SECONDS = 60.0  # within which the watcher looks once
# Nothing that is imported becomes garbage: without the collector, loading the platform takes an eighth less time.
LOAD = "import gc; gc.disable(); from plstack.launch.zygote import main; main({socket}, {parent})"


@dataclass(slots=True)
class Server:
    """An embedded server seen from here."""

    name: str
    is_alive: Callable[[], bool]
    restart: Callable[[], None]
    backoff: Backoff = field(default_factory=Backoff)


class Zygote:
    """The process that forks the platform's processes, and the socket to it."""

    def __init__(self, layout: Layout, env: Mapping[str, str]) -> None:
        self.log = layout.logs / "platform.log"
        self.control, theirs = socket.socketpair()
        with self.log.open("ab") as output, theirs:
            self.process = subprocess.Popen(
                [layout.python, "-c", LOAD.format(socket=theirs.fileno(), parent=os.getpid())],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=layout.root, start_new_session=True,
                env={**env, "PYTHONUNBUFFERED": "1"}, pass_fds=[theirs.fileno()],
            )  # fmt: skip
        self.pending = b""

    def send(self, line: str) -> None:
        try:
            self.control.sendall(line.encode() + b"\n")
        except OSError:
            return  # it is dying; the end of its socket will be seen as such

    def receive(self) -> list[str] | None:
        """Complete lines, or None when the zygote has ended."""
        try:
            data = self.control.recv(4096)
        except OSError:
            data = b""
        *lines, self.pending = (self.pending + data).split(b"\n")
        return [line.decode() for line in lines] if data else None

    def close(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()


class Supervisor:
    """Runs until told to stop. All of it in one thread: signals, the zygote's socket and a tick a second."""

    def __init__(
        self, layout: Layout, env: Mapping[str, str], servers: list[Server], say: Callable[[str], None]
    ) -> None:
        self.layout, self.env, self.servers, self.say = layout, env, servers, say
        self.zygote: Zygote | None = None
        self.zygote_backoff = Backoff()
        self.watcher: Watcher | None = None
        self.watcher_backoff = Backoff(due_at=0.0)
        self.vigil = Vigil()
        self.pids: dict[str, int] = {}
        self.asked: dict[str, float] = {}  # when the zygote was told to start or kill which process
        self.backoffs = {name: Backoff() for name in STOPPED_IN_ORDER}
        self.selector = selectors.DefaultSelector()
        self.stopping = False
        self.was_up = False  # a platform that never came up is an error of the start, not something to restart
        self.next_log_check = 0.0
        self.reserves: list[Reserve] = []  # of room on disk, for the servers

    def load(self) -> None:
        """Start loading the platform; its processes start as soon as they can."""
        self.zygote = Zygote(self.layout, self.env)
        self.zygote_backoff.started(time.monotonic())
        self.selector.register(self.zygote.control, selectors.EVENT_READ, self._hear)

    def await_loaded(self, seconds: float = 60.0) -> None:
        """Raises Trouble with the last line of the traceback when the platform cannot be loaded."""
        deadline = time.monotonic() + seconds
        while not self.pids:
            self.turn(0.05)
            if self.zygote is None or time.monotonic() > deadline:
                raise Trouble(f"the platform did not start: {last_line(tail(self.log))} (log: {self.log})")

    @property
    def log(self) -> Path:
        return self.layout.logs / "platform.log"

    def run(self, stop_requested: Callable[[], bool]) -> None:
        while not stop_requested():
            self.turn()

    def turn(self, seconds: float = TICK_SECONDS) -> None:
        """Wait for news for at most that long, then restart what is due."""
        self._listen(seconds)
        now = time.monotonic()
        self._look_after_servers(now)
        self._look_after_processes(now)
        self._look_after_helpers(now)
        if now > self.next_log_check:
            self.next_log_check = now + LOG_CHECK_SECONDS
            for log in self.layout.logs.glob("*.log"):
                cap(log)

    def _listen(self, seconds: float) -> None:
        for key, _ in self.selector.select(seconds):
            key.data()

    def stop(self, hurry: Callable[[], bool]) -> None:
        """End the processes one after the other, producers first. A second request to stop means: at once."""
        self.stopping = True
        self._end_watcher()
        for name, patience in STOPPED_IN_ORDER.items():
            self._stop_process(name, patience, hurry)
        if self.zygote:
            self.selector.unregister(self.zygote.control)
            self.zygote.close()
            self.zygote = None
        (self.layout.run / "processes.json").unlink(missing_ok=True)

    def _stop_process(self, name: str, patience: float, hurry: Callable[[], bool]) -> None:
        deadline = time.monotonic() + patience
        self._signal(name, signal.SIGTERM)
        while name in self.pids and self.zygote:
            if hurry() or time.monotonic() > deadline:
                self._signal(name, signal.SIGKILL)
            self._listen(0.1)

    def _signal(self, name: str, number: signal.Signals) -> None:
        if name in self.pids and self.zygote:
            self.zygote.send(f"signal {name} {int(number)}")

    def _hear(self) -> None:
        lines = self.zygote.receive() if self.zygote else None
        if lines is None:
            self._zygote_ended()
            return
        for line in lines:
            event, *rest = line.split()
            if event == "started":
                self.was_up = True
                self.pids[rest[0]] = int(rest[1])
                self.asked.pop(rest[0], None)
                self.backoffs[rest[0]].started(time.monotonic())
            elif event == "exited":
                self._process_ended(rest[0], int(rest[1]))
        self._publish()

    def _process_ended(self, name: str, status: int) -> None:
        self.pids.pop(name, None)
        self.asked.pop(name, None)
        if not self.stopping:
            delay = self.backoffs[name].died(time.monotonic())
            self.say(f"{name} ended ({_how(status)}) and starts again" + _in(delay))

    def _zygote_ended(self) -> None:
        """Its children have died with it, by the kernel's promise."""
        if self.zygote is None:
            return
        self.selector.unregister(self.zygote.control)
        self.zygote.close()
        self.zygote, self.pids, self.asked = None, {}, {}
        for backoff in self.backoffs.values():
            backoff.due_at = None
        if self.was_up and not self.stopping:
            delay = self.zygote_backoff.died(time.monotonic())
            self.say("the platform's processes ended together and start again" + _in(delay))

    def _look_after_processes(self, now: float) -> None:
        if self.zygote is None and self.zygote_backoff.is_due(now):
            self.load()
        for name, backoff in self.backoffs.items():
            if self.zygote and name not in self.pids and backoff.is_due(now):
                backoff.due_at = None
                self.asked[name] = now
                self.zygote.send(f"start {name}")

    def _look_after_helpers(self, now: float) -> None:
        """A zygote that does nothing takes its processes along; a watcher that does nothing only stops seeing."""
        if self.zygote and any(now - at > ANSWER_SECONDS for at in self.asked.values()):
            self.say("the platform's processes cannot be started or ended one by one")
            self.asked = {}
            self.zygote.process.kill()
        if self.watcher and now - self.watcher.heard_at > WATCH_SECONDS:
            self._end_watcher()
        if self.watcher is None and self.pids and self.watcher_backoff.is_due(now):
            self.watcher_backoff.started(now)
            self.watcher = Watcher(self.layout, self.env)
            self.selector.register(self.watcher, selectors.EVENT_READ, self._see)

    def _see(self) -> None:
        lines = self.watcher.receive() if self.watcher else None
        if self.watcher is None or lines is None:
            self._end_watcher()
            return
        for line in lines:
            sight = looked(json.loads(line))
            for silent in self.vigil.observe(sight, self.pids, time.monotonic()) if sight else ():
                self._replace(silent, self.watcher)

    def _replace(self, silent: Silent, watcher: Watcher) -> None:
        self.say(f"{silent.kind} has done nothing for {silent.seconds:.0f} s and is replaced")
        watcher.tell(silent)
        self.asked[silent.kind] = time.monotonic()
        self._signal(silent.kind, signal.SIGKILL)

    def _end_watcher(self) -> None:
        if self.watcher:
            self.selector.unregister(self.watcher)
            self.watcher.close()
            self.watcher = None
            self.watcher_backoff.died(time.monotonic())

    def _look_after_servers(self, now: float) -> None:
        for reserve in self.reserves:
            reserve.tick()
        for server in self.servers:
            if server.backoff.is_due(now):
                self._restart(server, now)
            elif server.backoff.due_at is None and not server.is_alive():
                delay = server.backoff.died(now)
                self.say(f"{server.name} ended and starts again" + _in(delay))

    def _restart(self, server: Server, now: float) -> None:
        server.backoff.started(now)
        try:
            server.restart()
        except (Trouble, OSError) as trouble:
            self.say(f"{trouble}; next try{_in(server.backoff.died(now))}")

    def _publish(self) -> None:
        """For `make status`, and for whoever wants to know which process is which."""
        pids = {"supervisor": os.getpid(), **self.pids}
        path = self.layout.run / "processes.json"
        with suppress(OSError):  # a full disk ends no platform
            path.with_suffix(".new").write_text(json.dumps(pids))
            path.with_suffix(".new").replace(path)


def _in(delay: float) -> str:
    return f" in {delay:.0f} s" if delay else ""


def _how(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"
