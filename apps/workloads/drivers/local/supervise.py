"""The running phase: one workload under its first process, from start to the last byte of its output."""

import fcntl
import json
import os
import resource
import select
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

from apps.workloads.drivers.base import Exit, ExitReason, IsolationLevel, Usage
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.cgroups import Group
from apps.workloads.drivers.local.disk_watch import GRACE_S, Breach, DiskWatch, largest_file
from apps.workloads.drivers.local.environment import Command
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.linux import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from apps.workloads.drivers.local.mounting import Launch
from apps.workloads.drivers.local.rdma import lift_memory_lock
from apps.workloads.drivers.local.records import MARKER, RunSpec
from apps.workloads.drivers.local.stopping import StopFile
from apps.workloads.drivers.said import Code, Said

TICK_S = 0.25
DRAIN_S = 5.0
START_TIMEOUT_S = 60.0
PIPE_BYTES = 1024 * 1024
READ_BYTES = 1024 * 1024
FREQUENT_S, FREQUENT_UNTIL_S, SELDOM_S = 1.0, 600.0, 5.0
MIB = 1024 * 1024
F_SETPIPE_SZ = 1031


@dataclass(slots=True)
class Outcome:
    """What was learned of the workload's end while it ran."""

    started: bool = False
    failed: Said | None = None
    status: int | None = None
    out_of_memory: bool = False
    stopped: bool = False
    breach: Breach | None = None


class Supervisor:
    """Runs one workload, once."""

    def __init__(self, spec: RunSpec, journal: Journal, stop: StopFile, group: Group | None) -> None:
        self.spec = spec
        self.journal = journal
        self.stop = stop
        self.group = group
        self.outcome = Outcome()
        self._memory_limit = spec.request.memory_mib * MIB
        self._asked = False
        self._killed = False
        self._sampled_at = 0.0
        self._cpu_before = 0.0
        self._breach_due = 0.0
        self.disk = self._disk_watch()
        journal.give_up = self._must_give_up

    def _disk_watch(self) -> DiskWatch:
        return DiskWatch(self.spec, self.journal.run, self._members)

    def run(self, launch: Launch, command: Command, listener: socket.socket) -> Exit:
        """Runs `command` under the first process that `launch` starts."""
        self.disk.begin()
        ours, theirs = socket.socketpair()
        output, inlet = os.pipe2(os.O_CLOEXEC)
        with suppress(OSError):
            _set_pipe_size(output)
        if self.spec.uid is not None:
            # Programs open /dev/stderr anew, which takes ownership of the pipe.
            os.fchown(inlet, self.spec.uid, self.spec.uid)
        try:
            process = self._spawn(launch, theirs, listener, inlet)
        except (OSError, subprocess.SubprocessError) as error:
            return Exit(None, None, ExitReason.START_FAILED, output=f"{launch.argv[0]}: {error}")
        finally:
            theirs.close()
            for descriptor in (inlet, *launch.inherited):
                os.close(descriptor)
        try:
            self._converse(process, ours, output, command)
        finally:
            ours.close()
            self._end_all(process)
            self.journal.end_running()
            self._drain(output)
            process.wait()
        return self._verdict(process)

    def _spawn(self, launch: Launch, channel: socket.socket, listener: socket.socket, output: int) -> "Process":
        descriptors = (channel.fileno(), listener.fileno())
        return subprocess.Popen(
            [*launch.argv, *map(str, descriptors)], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            pass_fds=(*descriptors, *launch.inherited), cwd="/", preexec_fn=self._prepare_child,
            env={"PATH": os.defpath, MARKER: str(self.spec.request.attempt_id)},
        )  # fmt: skip

    def _prepare_child(self) -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # On L0 whatever the workload leaves behind becomes a child of its first process, which ends it.
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if (largest := largest_file(self.spec)) is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        if self.spec.rdma:
            lift_memory_lock()
        if self.group is not None:
            self.group.join()

    def _converse(self, process: "Process", channel: socket.socket, output: int, command: Command) -> None:
        message = asdict(command) | {"uid": self.spec.uid}
        channel.settimeout(START_TIMEOUT_S)
        with suppress(OSError):  # when nobody listens, the end of the channel says so below
            channel.sendall(json.dumps(message).encode() + b"\n")
        poller = select.poll()
        poller.register(channel, select.POLLIN)
        poller.register(output, select.POLLIN)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._is_over():
            events = dict(poller.poll(TICK_S * 1000))
            # In this order: nothing that it says is read by anybody before it is known to run.
            if channel.fileno() in events and not self._listen(channel):
                return
            if output in events and not self._read(output):
                poller.unregister(output)
            if not self.outcome.started and time.monotonic() > deadline:
                self.outcome.failed = Said(Code.FIRST_PROCESS_SILENT)
            self._tick(process)

    def _is_over(self) -> bool:
        """After its own process ended, a workload that is being stopped may let its others finish, within the grace."""
        if self.outcome.failed or self._killed:
            return True
        return self.outcome.status is not None and not (self.outcome.stopped and self._members())

    def _listen(self, channel: socket.socket) -> bool:
        try:
            data = channel.recv(65536)
        except ConnectionResetError:  # it ended before it had read its command
            data = b""
        for line in data.splitlines():
            message = json.loads(line)
            if message.get("started"):
                self.outcome.started = True
                self.journal.begin_running()
            elif "failed" in message:
                self.outcome.failed = Said.from_json(message["failed"])
            else:
                self.outcome.status = message["status"]
                self.journal.end_running()
        return bool(data)

    def _read(self, output: int) -> bool:
        data = os.read(output, READ_BYTES)
        self.journal.append(data)
        return bool(data)

    def _tick(self, process: "Process") -> None:
        self._obey_stop()
        self._watch_memory()
        self._watch_disk()
        self._sample()
        self.journal.beat()

    def _obey_stop(self) -> None:
        if not self.stop.is_asked():
            return
        if self.outcome.status is None:
            self.outcome.stopped = True
        if not self._asked:
            self._asked = True
            self._terminate()
        if self.stop.is_due():
            self._killed = True

    def _terminate(self) -> None:
        """Ask the workload's own processes to end."""
        processes.send(self._members(), signal.SIGTERM)

    def _members(self) -> list[int]:
        """The workload's own processes, without the sandbox and the first process."""
        tree = processes.descendants(os.getpid())
        return tree[2:] if self.spec.level is IsolationLevel.L1 else tree[1:]

    def _watch_memory(self) -> None:
        """Without a control group the limit is held here: the fast sum first, the exact one when that is too much."""
        if self.group is not None or not self.outcome.started or self.outcome.status is not None:
            return
        members = self._members()
        own_files = self.spec.level is IsolationLevel.L1 and members
        shared = processes.shared_memory_bytes(members[0]) if own_files else 0
        if processes.memory_bytes(members) + shared <= self._memory_limit:
            return
        if (processes.proportional_bytes(members, shared) or self._memory_limit + 1) > self._memory_limit:
            self.outcome.out_of_memory = True
            self._killed = True

    def _watch_disk(self) -> None:
        """Above its limits it may save what it has, for a moment; with the disk full it may not."""
        if not self.outcome.started or self.outcome.status is not None:
            return
        found, now = self.disk.turn(), time.monotonic()
        if found is not None and (self.outcome.breach is None or found.urgent):
            if self.outcome.breach is None:
                self._terminate()
            self._breach_due = now if found.urgent else now + GRACE_S
            self.outcome.breach = found
        if self.outcome.breach is not None and now >= self._breach_due:
            self._killed = True

    def _must_give_up(self) -> bool:
        """Asked while output waits for room on a full disk, and everything else with it."""
        self._watch_disk()
        return self._killed or self.stop.is_asked()

    def _sample(self) -> None:
        ran_for = self.journal.clock() - (self.journal.running_since or self.journal.clock())
        interval = FREQUENT_S if ran_for < FREQUENT_UNTIL_S else SELDOM_S
        if self.journal.running_since is None or ran_for - self._sampled_at < interval:
            return
        cpu, memory = self._measure()
        milli = max(0.0, cpu - self._cpu_before) / (ran_for - self._sampled_at) * 1000
        self._sampled_at, self._cpu_before = ran_for, cpu
        self.journal.sample(Usage(at_s=round(ran_for, 3), cpu_milli=round(milli), memory_mib=memory // MIB))

    def _measure(self) -> tuple[float, int]:
        members: list[int] = []
        seconds = self.group.cpu_seconds() if self.group is not None else None
        if seconds is None or self.group is None:
            members = processes.descendants(os.getpid())
            seconds = processes.cpu_seconds(members)
        return seconds, self.group.memory_bytes() if self.group is not None else processes.memory_bytes(members)

    def _end_all(self, process: "Process") -> None:
        """The end of the channel ends the first process and all below it; what escaped is ended here."""
        deadline = time.monotonic() + DRAIN_S
        while tree := processes.descendants(os.getpid()):
            processes.send(tree, signal.SIGKILL)
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        if self.group is not None:
            self.group.end_all(DRAIN_S)

    def _drain(self, output: int) -> None:
        """Output that was written before the end; nobody is left to write more, unless it escaped the tree."""
        deadline = time.monotonic() + DRAIN_S
        while time.monotonic() < deadline and select.select([output], [], [], TICK_S)[0]:
            if not self._read(output):
                break
        self.journal.flush()
        os.close(output)

    def _verdict(self, process: "Process") -> Exit:
        outcome = self.outcome
        kills = self.group.out_of_memory_kills() if self.group is not None else 0
        if not outcome.started:
            output = "" if outcome.failed else self.journal.log_tail()
            return Exit(None, None, self._early_reason(), outcome.failed, output)
        status = outcome.status if outcome.status is not None else signal.SIGKILL
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        if outcome.stopped:
            killed = Said(Code.KILLED_AFTER_GRACE) if self._killed else None
            return Exit(code, number, ExitReason.STOPPED, killed)
        if outcome.breach is not None:
            return Exit(code, number, outcome.breach.reason, outcome.breach.said, self.journal.log_tail())
        if number == signal.SIGXFSZ and (largest := largest_file(self.spec)) is not None:
            said = Said(Code.FILE_TOO_LARGE, {"limit_mib": largest // MIB})
            return Exit(code, number, ExitReason.DISK_LIMIT, said, self.journal.log_tail())
        if outcome.out_of_memory or (kills and code != 0):
            return Exit(code, number, ExitReason.OOM, self._memory_exceeded(), self.journal.log_tail())
        reason = ExitReason.EXITED if code is not None else ExitReason.SIGNALLED
        return Exit(code, number, reason, output=self.journal.log_tail() if code != 0 else "")

    def _early_reason(self) -> ExitReason:
        return ExitReason.STOPPED if self.outcome.stopped else ExitReason.START_FAILED

    def _memory_exceeded(self) -> Said:
        return Said(Code.MEMORY_EXCEEDED, {"limit_mib": self.spec.request.memory_mib})


Process = subprocess.Popen[bytes]


def _set_pipe_size(descriptor: int) -> None:
    """A larger pipe: a burst of output then waits less for the disk."""
    fcntl.fcntl(descriptor, F_SETPIPE_SZ, PIPE_BYTES)
