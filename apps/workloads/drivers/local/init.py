"""The first process of a workload: starts it under its own user id, reaps, and serves terminals into it.

Runs as a script (`python -I -S init.py <channel fd> <exec fd>`), on L1 as process 1 of the sandbox, so it uses nothing
but the standard library and this file. Over the channel it is sent the command as one JSON line and answers with
`{"started": true}` or `{"failed": text}`, then `{"status": wait status}`. The end of the channel (the shim ends it, or
died) ends everything here.

On the exec socket, each connection sends one JSON line with its descriptors (a terminal, or input, output, error) and
is answered in the same way.
"""

import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios
from contextlib import suppress
from typing import Any

MAX_MESSAGE = 1024 * 1024
MAX_CONNECTIONS = 64
OOM_SCORE = "500"


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    listener = socket.socket(fileno=int(sys.argv[2]))
    for inherited in (channel, listener):
        inherited.set_inheritable(False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    command = json.loads(channel.makefile("r", encoding="utf-8").readline())
    Init(channel, listener, command).run()


class Init:
    """Waits for children, connections and the end of the channel, in one thread."""

    def __init__(self, channel: socket.socket, listener: socket.socket, command: dict[str, Any]) -> None:
        self.channel = channel
        self.listener = listener
        self.command = command
        self.children: dict[int, socket.socket] = {}

    def run(self) -> None:
        wakeup, notify = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
        error = self.start(self.channel, self.command, [])
        send(self.channel, {"failed": error} if error else {"started": True})
        while True:
            watched: list[Any] = [self.channel, self.listener, wakeup, *self.children.values()]
            readable = select.select(watched, [], [])[0]
            if self.channel in readable:
                return end_children()
            if wakeup in readable:
                os.read(wakeup, 4096)
                self.reap()
            if self.listener in readable:
                self.accept()
            self.hang_up(readable)

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

    def reap(self) -> None:
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
                    owner.close()

    def accept(self) -> None:
        connection, _ = self.listener.accept()
        connection.settimeout(2)
        try:
            data, descriptors, _, _ = socket.recv_fds(connection, MAX_MESSAGE, 3, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            connection.close()
            return
        try:
            error = self.admit(connection, data, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        send(connection, {"failed": error} if error else {"started": True})
        if error:
            connection.close()

    def admit(self, connection: socket.socket, data: bytes, descriptors: list[int]) -> str:
        if len(self.children) >= MAX_CONNECTIONS:
            return "too many terminals"
        try:
            command = json.loads(data)
        except ValueError:
            return "not a command"
        return self.start(connection, command, descriptors)

    def hang_up(self, readable: list[Any]) -> None:
        """A client that went away takes its process with it."""
        for pid, owner in list(self.children.items()):
            if owner in readable and owner is not self.channel:
                os.killpg(pid, signal.SIGKILL)


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    with suppress(OSError):  # whoever asked is gone
        connection.sendall(json.dumps(message).encode() + b"\n")


def end_children() -> None:
    """SIGKILL until there is no child left; as a subreaper (or process 1), each orphan becomes a child in its turn."""
    while True:
        for pid in children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> list[int]:
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{entry}/stat", errors="replace") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
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
        os.chdir(command["workdir"])
        os.execvpe(command["argv"][0], command["argv"], command["env"])  # noqa: S606 - the very purpose
    except BaseException as error:  # whatever it was, the parent has to be told
        text = f"{command['argv'][0]}: {error.strerror}" if isinstance(error, OSError) else repr(error)
        os.write(report, text.encode())
    finally:
        os._exit(127)


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
