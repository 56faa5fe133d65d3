"""Load Django, Celery and every page once, then fork the platform's processes, which share that memory.

The supervisor starts it as `main(SOCKET, PARENT)`. It forks every process once; after that it reads commands as lines
from that socket: `start NAME`, `signal NAME NUMBER`. It reports `started NAME PID`, `exited NAME STATUS`.
"""

import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

from django.template.loader import get_template
from django.urls import get_resolver

from plstack.celery import app as celery_app
from plstack.launch.child import die_with
from plstack.launch.processes import PAGES, TASKS, WEB, shared_port

PR_SET_NAME = 15
PROCESSES = PAGES | TASKS
# Imported by name at run time: without these lists each process would load them again.
FOR_PAGES = (
    "anyio._backends._asyncio",
    "httpcore",
    "uvicorn.lifespan.off",
    "uvicorn.lifespan.on",
    "uvicorn.loops.asyncio",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.auto",
)
FOR_TASKS = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.concurrency.solo",
    "celery.concurrency.thread",
    "celery.fixups.django",
    "celery.worker.consumer",
    "kombu.transport.redis",
    "plstack.files",
    "plstack.ssh",
)


def load_pages() -> None:
    """Load the whole URL tree and the first page's templates."""
    _load(FOR_PAGES)
    get_resolver()._populate()
    get_template("account/login.html")


def load_tasks() -> None:
    _load(FOR_TASKS)
    celery_app.loader.import_default_modules()
    celery_app.finalize()


def _load(names: Iterable[str]) -> None:
    for name in names:
        importlib.import_module(name)


class Zygote:
    """Handles the supervisor's commands and the exits of children."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.pids: dict[str, int] = {}
        self.pending = b""
        self.wakeup, writer = os.pipe()
        for end in (self.wakeup, writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def start(self, names: Iterable[str]) -> None:
        """Fork these after `gc.freeze()`, so that memory pages stay shared longer."""
        gc.collect()
        gc.freeze()
        for name in names:
            self._execute("start", name)

    def run(self) -> None:
        """Run until the supervisor closes the socket or dies."""
        while True:
            readable, _, _ = select.select([self.control.fileno(), self.wakeup], [], [])
            if self.wakeup in readable:
                os.read(self.wakeup, 4096)
                self._reap()
            if self.control.fileno() in readable and not self._receive():
                break
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)

    def _receive(self) -> bool:
        data = self.control.recv(4096)
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            self._execute(*line.decode().split())
        return bool(data)

    def _execute(self, command: str, name: str, number: str = "") -> None:
        if command == "start" and name not in self.pids:
            self.pids[name] = self._fork(name)
            self._report(f"started {name} {self.pids[name]}")
        elif command == "signal" and name in self.pids:
            os.kill(self.pids[name], int(number))

    def _reap(self) -> None:
        for name, pid in list(self.pids.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                del self.pids[name]
                self._report(f"exited {name} {os.waitstatus_to_exitcode(status)}")

    def _report(self, line: str) -> None:
        self.control.sendall(line.encode() + b"\n")

    def _fork(self, name: str) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._run_child(name, parent)
        return pid

    def _run_child(self, name: str, parent: int) -> None:
        """Run in the child: undo the zygote's own setup, and die with the zygote."""
        code = 1
        try:
            gc.enable()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.control.close()
            if name not in WEB:
                shared_port.close()
            die_with(parent, signal.SIGKILL)
            ctypes.CDLL(None).prctl(PR_SET_NAME, f"plstack-{name}".encode(), 0, 0, 0)
            _redirect(Path(os.environ["PLSTACK_HOME"]) / "logs" / f"{name}.log")
            sys.argv[:] = [f"plstack-{name}"]
            PROCESSES[name]()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # not through the zygote's own exit handlers


def _redirect(log: Path) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def main(descriptor: int, parent: int) -> None:
    die_with(parent, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor decides who stops when
    zygote = Zygote(socket.socket(fileno=descriptor))
    load_pages()
    if len(WEB) > 1:
        shared_port.open()
    zygote.start(PAGES)
    load_tasks()
    zygote.start(TASKS)
    zygote.run()
