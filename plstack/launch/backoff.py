"""Delays before restarts."""

from dataclasses import dataclass

LONGEST_BACKOFF = 30.0
STABLE_SECONDS = 30.0


@dataclass(slots=True)
class Backoff:
    """When a process that exited may restart: at once, then after 1, 2, 4 ... 30 s while it keeps failing early."""

    started_at: float = 0.0
    failures: int = 0
    due_at: float | None = None

    def record_start(self, now: float) -> None:
        self.started_at, self.due_at = now, None

    def record_exit(self, now: float) -> float:
        """Record an exit; returns the delay in seconds before the next start."""
        self.failures = 0 if now - self.started_at > STABLE_SECONDS else self.failures + 1
        delay = min(LONGEST_BACKOFF, 2.0 ** (self.failures - 2)) if self.failures > 1 else 0.0
        self.due_at = now + delay
        return delay

    def is_due(self, now: float) -> bool:
        return self.due_at is not None and now >= self.due_at
