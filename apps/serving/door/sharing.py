"""Memory for bodies that are read whole, so shared that nobody's requests keep others out."""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class Shared:
    """`most` bytes in all. Nobody holds more than what is left free.

    So the first holds half of it at most, the next one half of the rest, and whoever holds nothing finds half of what
    is free, which is never nothing. These are dynamic thresholds with α = 1 (Choudhury and Hahne, "Dynamic queue length
    thresholds for shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998).
    """

    most: int
    held: Counter[UUID] = field(default_factory=Counter)

    @property
    def free(self) -> int:
        return self.most - self.held.total()

    def take(self, whose: UUID, size: int) -> bool:
        """Whether there was room; nothing is held otherwise."""
        if self.held[whose] + size > self.free - size:
            return False
        self.held[whose] += size
        return True

    def give_back(self, whose: UUID, size: int) -> None:
        self.held[whose] -= size
        if not self.held[whose]:
            del self.held[whose]
