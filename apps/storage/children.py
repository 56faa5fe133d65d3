"""One forked process per piece of work: it can be killed wherever it is stuck, without affecting others.

A thread that waits in the kernel cannot be stopped; a process can. The parent has one thread only and closes its
database connection before it forks, so that the child begins with nothing of the parent's but its memory.
"""

import ctypes
import logging
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from django.db import connections

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
# Sent to the runner by its children and by whoever stops it; children get them unblocked again.
SIGNALS = frozenset({signal.SIGCHLD, signal.SIGTERM, signal.SIGINT})
NICENESS = 5
# A hostile archive or a tree of millions of names ends its own child, neither the runner nor the database.
MOST_MEMORY = 3 << 30
OOM_SCORE = "600"
DONE, BROKEN, BUSY = 0, 1, 75
log = logging.getLogger(__name__)


def fork(work: Callable[[], int], name: str) -> int:
    """Run `work` in a child, whose exit status is its result; returns the child's process id."""
    connections.close_all()
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(work, name, parent)
    return pid


def _become(work: Callable[[], int], name: str, parent: int) -> None:
    status = BROKEN
    try:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(PR_SET_NAME, name.encode()[:15], 0, 0, 0)
        if os.getppid() == parent:
            _limit()
            status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            connections.close_all()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)  # not through the exit handlers of the parent


def _limit() -> None:
    os.nice(NICENESS)
    _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)


def reap_children() -> dict[int, int]:
    """Children that have ended, by process id: the exit status, or minus the signal."""
    found: dict[int, int] = {}
    with suppress(ChildProcessError):
        while (answer := os.waitpid(-1, os.WNOHANG))[0]:
            found[answer[0]] = os.waitstatus_to_exitcode(answer[1])
    return found


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
