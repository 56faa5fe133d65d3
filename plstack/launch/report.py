"""Terminal output: numbered steps with durations, and failures in one line."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class Trouble(Exception):
    """A failure that the user can act on. The message is one sentence without a trailing newline."""


@dataclass(slots=True)
class Reporter:
    """Prints steps as they finish and notes as they come; safe to call from several threads."""

    total: int
    started: float = field(default_factory=time.monotonic)
    _next: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def step(self, title: str) -> Iterator["Step"]:
        """Time a block and print `[n/total] title: outcome  1.2 s` when it ends without an exception."""
        step = Step(self, title)
        began = time.monotonic()
        yield step
        with self._lock:
            number, self._next = self._next, self._next + 1
        self.line(f"[{number}/{self.total}] {title + ': ' + step.outcome:<58} {time.monotonic() - began:5.1f} s")

    def line(self, text: str) -> None:
        """Print one whole line and flush it."""
        with self._lock:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def elapsed(self) -> float:
        """Seconds since this reporter was made."""
        return time.monotonic() - self.started


@dataclass(slots=True)
class Step:
    """One running step; `outcome` is printed in its final line."""

    reporter: Reporter
    title: str
    outcome: str = "ready"

    def note(self, text: str) -> None:
        """Print what a long step is doing."""
        self.reporter.line(f"      {self.title}: {text}")
