"""Keep the platform's processes running, and stop them in order."""

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
from plstack.launch.files import rotate_log, tail
from plstack.launch.layout import Layout, web_names
from plstack.launch.liveness import LivenessMonitor, SilentProcess, Watcher, parse_observation
from plstack.launch.report import Trouble
from plstack.launch.reserve import Reserve
from plstack.launch.spawn import last_line

# Producers before consumers, and the web process last, so that pages still show what is going on.
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
ANSWER_SECONDS = 30.0  # the zygote must carry out a command within this time
WATCH_SECONDS = 60.0  # the watcher must report once within this time
# Imports create no garbage: with the collector off, loading the platform takes an eighth less time.
LOAD = "import gc; gc.disable(); from plstack.launch.zygote import main; main({socket}, {parent})"


@dataclass(slots=True)
class Server:
    """An embedded server, as the supervisor sees it."""

    name: str
    is_alive: Callable[[], bool]
    restart: Callable[[], None]
    backoff: Backoff = field(default_factory=Backoff)


class Zygote:
    """The child process that forks the platform's processes, and the socket to it."""

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
            return  # it is dying; `receive` will return None

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
    """Runs until told to stop, in one thread: signals, the zygote's socket and one tick per second."""

    def __init__(
        self, layout: Layout, env: Mapping[str, str], servers: list[Server], say: Callable[[str], None]
    ) -> None:
        self.layout, self.env, self.servers, self.say = layout, env, servers, say
        self.zygote: Zygote | None = None
        self.zygote_backoff = Backoff()
        self.watcher: Watcher | None = None
        self.watcher_backoff = Backoff(due_at=0.0)
        self.monitor = LivenessMonitor()
        self.pids: dict[str, int] = {}
        self.unanswered: dict[str, float] = {}  # when the zygote was told to start or kill which process
        self.stopped_in_order = STOPPED_IN_ORDER | dict.fromkeys(
            web_names(layout.web_processes), STOPPED_IN_ORDER["web"]
        )
        self.backoffs = {name: Backoff() for name in self.stopped_in_order}
        self.selector = selectors.DefaultSelector()
        self.stopping = False
        self.was_up = False  # a platform that never came up is a failed start and is not restarted
        self.next_log_check = 0.0
        self.reserves: list[Reserve] = []  # of room on disk, for the servers
        self.tickers: list[Callable[[], None]] = []  # what else is looked after each second; they never raise

    def load(self) -> None:
        """Start loading the platform; its processes start as soon as they can."""
        self.zygote = Zygote(self.layout, self.env)
        self.zygote_backoff.record_start(time.monotonic())
        self.selector.register(self.zygote.control, selectors.EVENT_READ, self._on_zygote_lines)

    def await_loaded(self, seconds: float = 60.0) -> None:
        """Wait until the platform is loaded. Raises Trouble with the last line of the traceback if that fails."""
        deadline = time.monotonic() + seconds
        while not self.pids:
            self.run_once(0.05)
            if self.zygote is None or time.monotonic() > deadline:
                raise Trouble(f"the platform did not start: {last_line(tail(self.log))} (log: {self.log})")

    @property
    def log(self) -> Path:
        return self.layout.logs / "platform.log"

    def run(self, stop_requested: Callable[[], bool]) -> None:
        while not stop_requested():
            self.run_once()

    def run_once(self, seconds: float = TICK_SECONDS) -> None:
        """Wait for events for at most that long, then restart what is due."""
        self._listen(seconds)
        now = time.monotonic()
        self._look_after_servers(now)
        self._look_after_processes(now)
        self._look_after_helpers(now)
        if now > self.next_log_check:
            self.next_log_check = now + LOG_CHECK_SECONDS
            for log in self.layout.logs.glob("*.log"):
                rotate_log(log)

    def _listen(self, seconds: float) -> None:
        for key, _ in self.selector.select(seconds):
            key.data()

    def stop(self, hurry: Callable[[], bool]) -> None:
        """Stop the processes one after the other, producers first; kill them at once if `hurry` returns True."""
        self.stopping = True
        self._end_watcher()
        for name, patience in self.stopped_in_order.items():
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

    def _on_zygote_lines(self) -> None:
        lines = self.zygote.receive() if self.zygote else None
        if lines is None:
            self._zygote_ended()
            return
        for line in lines:
            event, *rest = line.split()
            if event == "started":
                self.was_up = True
                self.pids[rest[0]] = int(rest[1])
                self.unanswered.pop(rest[0], None)
                self.backoffs[rest[0]].record_start(time.monotonic())
            elif event == "exited":
                self._process_ended(rest[0], int(rest[1]))
        self._write_process_list()

    def _process_ended(self, name: str, status: int) -> None:
        self.pids.pop(name, None)
        self.unanswered.pop(name, None)
        if not self.stopping:
            delay = self.backoffs[name].record_exit(time.monotonic())
            self.say(f"{name} ended ({_status_text(status)}) and starts again" + _delay_text(delay))

    def _zygote_ended(self) -> None:
        """Clean up after the zygote; the kernel has killed its children with it."""
        if self.zygote is None:
            return
        self.selector.unregister(self.zygote.control)
        self.zygote.close()
        self.zygote, self.pids, self.unanswered = None, {}, {}
        for backoff in self.backoffs.values():
            backoff.due_at = None
        if self.was_up and not self.stopping:
            delay = self.zygote_backoff.record_exit(time.monotonic())
            self.say("the platform's processes ended together and start again" + _delay_text(delay))

    def _look_after_processes(self, now: float) -> None:
        if self.zygote is None and self.zygote_backoff.is_due(now):
            self.load()
        for name, backoff in self.backoffs.items():
            if self.zygote and name not in self.pids and backoff.is_due(now):
                backoff.due_at = None
                self.unanswered[name] = now
                self.zygote.send(f"start {name}")

    def _look_after_helpers(self, now: float) -> None:
        """Kill a zygote that does not respond, with all its processes, and replace a watcher that does not."""
        if self.zygote and any(now - at > ANSWER_SECONDS for at in self.unanswered.values()):
            self.say("the platform's processes cannot be started or ended one by one")
            self.unanswered = {}
            self.zygote.process.kill()
        if self.watcher and now - self.watcher.heard_at > WATCH_SECONDS:
            self._end_watcher()
        if self.watcher is None and self.pids and self.watcher_backoff.is_due(now):
            self.watcher_backoff.record_start(now)
            self.watcher = Watcher(self.layout, self.env)
            self.selector.register(self.watcher, selectors.EVENT_READ, self._on_watcher_lines)

    def _on_watcher_lines(self) -> None:
        lines = self.watcher.receive() if self.watcher else None
        if self.watcher is None or lines is None:
            self._end_watcher()
            return
        for line in lines:
            sight = parse_observation(json.loads(line))
            for silent in self.monitor.observe(sight, self.pids, time.monotonic()) if sight else ():
                self._replace(silent, self.watcher)

    def _replace(self, silent: SilentProcess, watcher: Watcher) -> None:
        self.say(f"{silent.kind} has done nothing for {silent.seconds:.0f} s and is replaced")
        watcher.record_replacement(silent)
        self.unanswered[silent.kind] = time.monotonic()
        self._signal(silent.kind, signal.SIGKILL)

    def _end_watcher(self) -> None:
        if self.watcher:
            self.selector.unregister(self.watcher)
            self.watcher.close()
            self.watcher = None
            self.watcher_backoff.record_exit(time.monotonic())

    def _look_after_servers(self, now: float) -> None:
        for reserve in self.reserves:
            reserve.tick()
        for tick in self.tickers:
            tick()
        for server in self.servers:
            if server.backoff.is_due(now):
                self._restart(server, now)
            elif server.backoff.due_at is None and not server.is_alive():
                delay = server.backoff.record_exit(now)
                self.say(f"{server.name} ended and starts again" + _delay_text(delay))

    def _restart(self, server: Server, now: float) -> None:
        server.backoff.record_start(now)
        try:
            server.restart()
        except (Trouble, OSError) as trouble:
            self.say(f"{trouble}; next try{_delay_text(server.backoff.record_exit(now))}")

    def _write_process_list(self) -> None:
        """Write the pids by name, for `make status` and for people."""
        pids = {"supervisor": os.getpid(), **self.pids}
        path = self.layout.run / "processes.json"
        with suppress(OSError):  # a full disk must not end the platform
            path.with_suffix(".new").write_text(json.dumps(pids))
            path.with_suffix(".new").replace(path)


def _delay_text(delay: float) -> str:
    return f" in {delay:.0f} s" if delay else ""


def _status_text(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"
