"""What the shim writes down for whoever looks: heartbeat and state, usage, log, and the exit record last of all."""

import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict

from apps.workloads.drivers.base import Exit, Observation, Phase, Progress, StepTime, Usage
from apps.workloads.drivers.local.linux import reserve, write_atomic, write_reserved
from apps.workloads.drivers.local.log_times import LogTimes
from apps.workloads.drivers.local.masking import Masker
from apps.workloads.drivers.local.records import RunDirectory, encode_observation

HEARTBEAT_S = 1.0
RETRY_S = 0.5
LOG_LIMIT_BYTES = 1024**3
TAIL_BYTES = 64 * 1024
RECORD_BYTES = 32 * 1024
MIB = 1024 * 1024
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)


class Journal:
    """Keeper of a run directory's state. All durations are CLOCK_MONOTONIC: no wall clock, no negative seconds."""

    def __init__(self, run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises OSError where the disk has no room for an exit record: what cannot end cannot begin."""
        reserve(run.exit_room, RECORD_BYTES)
        self.run = run
        self.clock = clock
        self.log_limit = LOG_LIMIT_BYTES
        self.phase = Phase.IMAGE
        self.steps: list[StepTime] = []
        self.progress: Progress | None = None
        self.running_since: float | None = None
        self.ran_for_s: float | None = None
        self.ended: Exit | None = None
        self.usage: Usage | None = None
        self.peak_memory_mib: int | None = None
        self.give_up: Callable[[], bool] = lambda: False
        """Whether to drop output that the disk has no room for: a workload that has to stop must not wait for it."""
        self.masker: Masker | None = None
        self._step_began = clock()
        self._last_beat = 0.0
        self._log = os.open(run.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._log_bytes = os.fstat(self._log).st_size
        self._log_times = LogTimes(run.log_times, clock)

    @contextmanager
    def step(self, phase: Phase) -> Iterator[None]:
        """Times a start-up step; its duration stays unfinished if it raises."""
        self.phase, self.progress, self._step_began = phase, None, self.clock()
        self.beat(force=True)
        yield
        self.steps.append(StepTime(phase, self.clock() - self._step_began, done=True))

    def report(self, progress: Progress) -> None:
        if progress != self.progress:
            if self.progress is None or progress.said != self.progress.said:
                self.note(progress.text)
            self.progress = progress
            self.beat(force=True)

    def begin_running(self) -> None:
        """The workload's own process exists from now on; after one of a stage, its time goes on."""
        self.phase, self.progress = Phase.RUNNING, None
        self.ran_for_s = self.ran_for_s or 0.0
        self.running_since = self.clock() - self.ran_for_s
        self.beat(force=True)

    def end_running(self) -> None:
        if self.running_since is not None:
            self.ran_for_s = self.clock() - self.running_since
            self.running_since = None

    def beat(self, force: bool = False) -> None:
        """Heartbeat, at most once a second unless forced. A full disk delays it; the run goes on."""
        now = self.clock()
        if not force and now - self._last_beat < HEARTBEAT_S:
            return
        self._last_beat = now
        if self.running_since is not None:
            self.ran_for_s = now - self.running_since
        with suppress(OSError):
            write_atomic(self.run.state, encode_observation(self._observation(self.phase, None)), durable=False)

    def sample(self, usage: Usage) -> None:
        """Appends to the metrics and remembers the peak."""
        self.usage = usage
        self.peak_memory_mib = max(usage.memory_mib, self.peak_memory_mib or 0)
        line = json.dumps({name: value for name, value in asdict(usage).items() if value is not None})
        with suppress(OSError), open(self.run.metrics, "a") as file:
            file.write(line + "\n")

    def append(self, data: bytes) -> None:
        """Adds the workload's output to the log. On a full disk it waits, and so does the workload: no hole."""
        self._add(data if self.masker is None else self.masker.feed(data))

    def flush(self) -> None:
        """Adds what was held back because a secret might have begun in it: nothing more will come."""
        if self.masker is not None:
            self._add(self.masker.flush())

    def _add(self, data: bytes) -> None:
        """Offsets are those of what is stored: the log is masked before it is measured, cut or read."""
        room = self.log_limit - self._log_bytes
        if room <= 0:
            return
        self._write(data[:room])
        if len(data) >= room:
            limit = self.log_limit // MIB
            self._write(
                f"\n[plstack] The log has reached its limit of {limit} MiB; further output is dropped.\n".encode()
            )

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._log_times.mark(self._log_bytes)  # before the bytes, so that no reader finds any without a time
            try:
                written = os.write(self._log, view)
            except OSError as error:
                if error.errno not in FULL_DISK:
                    raise
                if self.give_up():
                    return
                time.sleep(RETRY_S)
                self.beat()
            else:
                view = view[written:]
                self._log_bytes += written

    def note(self, text: str) -> None:
        """A line of the platform's own in the log."""
        line = f"[plstack] {text}\n".encode()
        self._add(line if self.masker is None else self.masker.whole(line))

    def log_tail(self, lines: int = 20, limit: int = 2000) -> str:
        """The log's last lines, for the detail of a failure; at most `limit` bytes. Of a bar its last state."""
        with open(self.run.log, "rb") as file:
            file.seek(max(0, self._log_bytes - TAIL_BYTES))
            found = [line.rstrip(b"\r").rpartition(b"\r")[2] for line in file.read().rstrip(b"\r\n").split(b"\n")]
        return b"\n".join(found[-lines:])[-limit:].decode(errors="replace")

    def finish(self, ended: Exit) -> None:
        """Writes the exit record in the room kept for it; should that fail, for as long as it takes.

        Not where somebody has removed the run's folder: nobody looks for the record there any more.
        """
        self.end_running()
        record = encode_observation(self._observation(Phase.EXITED, ended))
        while True:
            try:
                write_reserved(self.run.exit_room, self.run.exit, record)
            except OSError:
                if self.run.path.exists() or not self.run.path.parent.exists():
                    time.sleep(RETRY_S)
                    continue
            self.ended = ended
            return

    def look(self) -> Observation:
        """What the records say, as of now; for any thread."""
        ended = self.ended
        return self._observation(self.phase if ended is None else Phase.EXITED, ended)

    def _observation(self, phase: Phase, ended: Exit | None) -> Observation:
        steps = list(self.steps)
        if self.phase in (Phase.IMAGE, Phase.MOUNT) and not any(step.name is self.phase for step in steps):
            steps.append(StepTime(self.phase, self.clock() - self._step_began, done=False))
        return Observation(
            phase=phase,
            steps=tuple(steps),
            progress=self.progress if ended is None else None,
            ran_for_s=self.ran_for_s,
            exit=ended,
            usage=self.usage,
            peak_memory_mib=self.peak_memory_mib,
        )
