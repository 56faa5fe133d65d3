"""The first process of a workload: starts it under its own user id, reaps, serves terminals into it, relays its ports.

On L1 it is process 1 of the sandbox, so it uses nothing but the standard library, this file, `port_relay`,
`privileges` and `relay`. It is started as `python -I -S -c BOOT <folder of the packages> <channel fd> <exec fd>`. Over
the channel it is sent the command (see `environment.Command`) as one JSON line. It answers `{"started": true}` or
`{"failed": why}`, then `{"status": wait status}`. The end of the channel (the shim ends it, or died) ends everything
here.

On the exec socket, each connection sends one JSON line with its descriptors (a terminal, or input, output, error) and
is answered in the same way; further lines `{"signal": number}` signal it, and its end ends what it started.
"""

import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import termios
import time
from contextlib import suppress
from typing import Any

from apps.workloads.drivers.local import privileges
from apps.workloads.drivers.local.port_relay import Door, Gate, Watch, WayOut

BOOT = "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local import init; init.main()"
MAX_MESSAGE = 1024 * 1024
MAX_TERMINALS = 64
# Of `said.Code`, `request` and `environment`, which are not there inside a sandbox.
TOO_MANY_OPEN, MACHINE_PYTHON, PYTHON_VARIABLE = "too_many_open", "machine-python", "PLSTACK_MACHINE_PYTHON"
OOM_SCORE = "500"
PARENT, SESSION = 1, 3
HANGING_UP_S, LOOK_AGAIN_S = 10.0, 0.1


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[2]))
    listener = socket.socket(fileno=int(sys.argv[3]))
    for inherited in (channel, listener):
        inherited.set_inheritable(False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.getpid() == 1:
        privileges.give_up()
    command = json.loads(channel.makefile("r", encoding="utf-8").readline())
    Init(channel, listener, command).run()


class Init:
    """Waits for children, connections and the end of the channel, in one thread."""

    def __init__(self, channel: socket.socket, listener: socket.socket, command: dict[str, Any]) -> None:
        self.channel = channel
        self.listener = listener
        self.command = command
        self.children: dict[int, socket.socket] = {}
        self.is_over = False
        self.hung_up: list[HangUp] = []
        self.selector = selectors.DefaultSelector()
        self.gates: list[Gate] = [Door(self.selector, command["folder"], port) for port in command["ports"]]
        if command["way_out"]:
            self.gates.append(WayOut(self.selector, *command["way_out"]))

    def run(self) -> None:
        wakeup, notify = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
        self.selector.register(self.channel, selectors.EVENT_READ, self.end)
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(wakeup, selectors.EVENT_READ, lambda _events: self.reap(wakeup))
        error = self.start(self.channel, self.command, [])
        self.command["secret_files"] = {}  # for the first program alone; the others find them
        send(self.channel, {"failed": error} if error else {"started": True})
        watch = Watch(self.gates)
        while not self.is_over:
            for key, events in self.selector.select(self.patience(watch.turn())):
                key.data(events)
            self.hung_up = [hang_up for hang_up in self.hung_up if not hang_up.is_over()]
        end_children()

    def patience(self, turn: float | None) -> float | None:
        """Seconds until something has to be looked at; None: not before an event."""
        if not self.hung_up:
            return turn
        return LOOK_AGAIN_S if turn is None else min(turn, LOOK_AGAIN_S)

    def end(self, _events: int) -> None:
        self.is_over = True

    def start(self, owner: socket.socket, command: dict[str, Any], descriptors: list[int]) -> str:
        """Forks and executes; "" once the program has replaced the child, else why it could not."""
        outcome, report = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            become(self.command | command, descriptors, report)
        os.close(report)
        with open(outcome, "rb") as reader:
            error = reader.read().decode(errors="replace")
        if not error:
            self.children[pid] = owner
        return error

    def reap(self, wakeup: int) -> None:
        with suppress(BlockingIOError):
            os.read(wakeup, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            owner = self.children.pop(pid, None)
            if owner is not None:
                send(owner, {"status": status})
                if owner is not self.channel:
                    self.forget(owner)

    def forget(self, connection: socket.socket) -> None:
        with suppress(KeyError):
            self.selector.unregister(connection)
        connection.close()

    def accept(self, _events: int) -> None:
        connection, _ = self.listener.accept()
        connection.settimeout(2)
        try:
            data, descriptors, _, _ = socket.recv_fds(connection, MAX_MESSAGE, 3)
        except OSError:
            connection.close()
            return
        for descriptor in descriptors:  # Python's recv_fds drops the flag that would have said so
            os.set_inheritable(descriptor, False)
        try:
            error = self.admit(connection, data, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        send(connection, {"failed": error} if error else {"started": True})
        if error:
            connection.close()
        else:
            self.selector.register(connection, selectors.EVENT_READ, lambda _events: self.obey(connection))

    def admit(self, connection: socket.socket, data: bytes, descriptors: list[int]) -> str | dict[str, Any]:
        """Empty once it runs, else why not: a `Said` as JSON, or text of the system's."""
        if sum(owner is not self.channel for owner in self.children.values()) >= MAX_TERMINALS:
            return {"code": TOO_MANY_OPEN, "params": {"count": MAX_TERMINALS}}
        try:
            command = json.loads(data)
        except ValueError:
            return "not a command"
        command["env"] = self.command["env"] | command.get("env", {})
        return self.start(connection, command, descriptors)

    def obey(self, connection: socket.socket) -> None:
        """Signals as told; a client that went away takes its process with it."""
        pid = next((pid for pid, owner in self.children.items() if owner is connection), None)
        if pid is None:  # reaped by an earlier event of the same turn
            return
        try:
            data = connection.recv(4096)
        except OSError:
            data = b""
        for line in data.splitlines() or [b'{"signal": 9}']:
            with suppress(ProcessLookupError, ValueError, KeyError, OverflowError):
                number = json.loads(line)["signal"]
                os.killpg(pid, number)
                if number in (signal.SIGHUP, signal.SIGKILL):
                    self.hung_up.append(HangUp(pid))
        if not data:
            self.selector.unregister(connection)


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    with suppress(OSError):  # whoever asked is gone
        connection.sendall(json.dumps(message).encode() + b"\n")


def end_children() -> None:
    """SIGKILL until there is no child left; as a subreaper (or process 1), each orphan becomes a child in its turn."""
    while True:
        for pid in processes(PARENT, os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


class HangUp:
    """SIGHUP to every job of a shell that ends so: not every shell passes it on, and the kernel tells the job in front.

    What ignores it, or has a session of its own, lives on. A job that the shell is just starting still is a copy of the
    shell, which keeps the signal for itself and forgets it as it becomes its program. So each is told again once it is
    another program, and copies are told at each look, until all are gone or for a while.
    """

    def __init__(self, session: int) -> None:
        self.session, self.shell = session, program_of(session)
        self.until, self.due = time.monotonic() + HANGING_UP_S, 0.0
        self.told: set[tuple[int, bytes]] = set()
        self.tell()

    def is_over(self) -> bool:
        """Whether nobody is left to be told; tells those who are, where it is time to."""
        now = time.monotonic()
        return now > self.until or (now >= self.due and not self.tell())

    def tell(self) -> bool:
        self.due = time.monotonic() + LOOK_AGAIN_S
        found = processes(SESSION, self.session)
        for pid in found:
            program = program_of(pid)
            is_copy = program == self.shell and pid != self.session
            if is_copy or (pid, program) not in self.told:
                self.told.add((pid, program))
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGHUP)
        return bool(found)


def program_of(pid: int) -> bytes:
    """Its command line; empty where it has ended."""
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(4096)
    return b""


def processes(field: int, value: int) -> list[int]:
    """Those with this value in a field of /proc/<pid>/stat behind the name; proc_pid_stat(5)."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{entry}/stat", errors="replace") as file:
            if int(file.read().rpartition(")")[2].split()[field]) == value:
                found.append(int(entry))
    return found


def become(command: dict[str, Any], descriptors: list[int], report: int) -> None:
    """In the child: drops every privilege and executes. Never returns."""
    try:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            if signal.getsignal(number) is not None:
                signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.setsid()
        attach(descriptors, command.get("tty", False))
        volunteer_for_oom()
        if command["uid"] is not None:
            os.setgroups([])
            os.setresgid(command["uid"], command["uid"], command["uid"])
            os.setresuid(command["uid"], command["uid"], command["uid"])
        os.umask(0o022)
        write_secrets(command["secret_folder"], command["secret_files"])
        os.chdir(command["workdir"])
        argv = command["argv"]
        if argv[0] == MACHINE_PYTHON:
            argv = [*command["env"].get(PYTHON_VARIABLE, "python").split(), *argv[1:]]
        os.execvpe(argv[0], argv, command["env"])  # noqa: S606 - the very purpose
    except BaseException as error:  # whatever it was, the parent has to be told
        text = f"{command['argv'][0]}: {error.strerror}" if isinstance(error, OSError) else repr(error)
        os.write(report, text.encode())
    finally:
        os._exit(127)


def write_secrets(folder: str, files: dict[str, str]) -> None:
    """As the workload's user, which alone reads them."""
    for name, content in files.items():
        descriptor = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o400)
        with open(descriptor, "wb") as file:
            file.write(content.encode())


def attach(descriptors: list[int], tty: bool) -> None:
    if tty:
        fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
    for target, source in enumerate((descriptors * 3)[:3] if tty else descriptors):
        os.dup2(source, target)


def volunteer_for_oom() -> None:
    """When memory runs out, the workload goes first, and not the processes that report on it."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(OOM_SCORE)


if __name__ == "__main__":
    main()
