"""Temporary bans of addresses that failed too often."""

from collections import deque
from dataclasses import dataclass, field

ALLOWED = 10
WITHIN_S = 600.0
BANNED_S = 900.0
MAX_ADDRESSES = 10_000


@dataclass(slots=True)
class Bans:
    """Bans of one process. Times are monotonic seconds. A connection that ends without signing in is one failure."""

    failures: dict[str, deque[float]] = field(default_factory=dict)
    until: dict[str, float] = field(default_factory=dict)

    def is_banned(self, address: str, now: float) -> bool:
        return self.until.get(address, 0.0) > now

    def failed(self, address: str, now: float) -> None:
        recent = self.failures.setdefault(address, deque(maxlen=ALLOWED))
        recent.append(now)
        if len(recent) == ALLOWED and now - recent[0] <= WITHIN_S:
            self.until[address] = now + BANNED_S
            del self.failures[address]
        if len(self.failures) + len(self.until) > MAX_ADDRESSES:
            self._forget(now)

    def succeeded(self, address: str) -> None:
        self.failures.pop(address, None)

    def _forget(self, now: float) -> None:
        self.until = {address: end for address, end in self.until.items() if end > now}
        self.failures = {address: times for address, times in self.failures.items() if now - times[-1] <= WITHIN_S}
