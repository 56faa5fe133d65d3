"""Whose turn it is: every organisation has its own, and within one every person.

No organisation holds more than half of the slots, and one that has nothing running starts at once, in a slot beyond the
usual ones if those are taken: so jobs that never end do not block others. Pure: plain values in, a choice out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

# Children at once, as a multiple of the slots: how many organisations may be kept waiting by none of the others.
SPARE = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """Waiting work of the person `owner` (the organisation itself if nobody requested it)."""

    id: UUID
    organisation: UUID
    owner: UUID | int


@dataclass(slots=True)
class Turns:
    """Remembers who was served when. `slots`: concurrent children while no organisation waits for its first one."""

    slots: int
    _count: int = 0
    _served: dict[UUID | int, int] = field(default_factory=dict)

    @property
    def share(self) -> int:
        """The most that one organisation may have running."""
        return max(1, self.slots // 2)

    def choose(self, waiting: Iterable[Piece], running: Mapping[tuple[UUID, UUID | int], int]) -> Piece | None:
        """The piece to start next, or None. `running` counts by (organisation, owner).

        `waiting` is in the order of arrival; of each person only the first piece is ever chosen.
        """
        total = sum(running.values())
        if total >= self.slots * SPARE:
            return None
        held: Counter[UUID] = Counter()
        for (organisation, _owner), count in running.items():
            held[organisation] += count
        most = self.share if total < self.slots else 1
        free = [piece for piece in waiting if held[piece.organisation] < most]
        if not free:
            return None
        return min(free, key=lambda piece: self._rank(piece, held, running))

    def serve(self, piece: Piece) -> None:
        """Record that the piece has been started."""
        self._count += 1
        self._served[piece.organisation] = self._served[piece.owner] = self._count

    def _rank(
        self, piece: Piece, held: Mapping[UUID, int], running: Mapping[tuple[UUID, UUID | int], int]
    ) -> tuple[int, int, int, int]:
        """Rank by fewest running, then by longest since served; `min` keeps the order of arrival."""
        return (
            held[piece.organisation],
            self._served.get(piece.organisation, 0),
            running.get((piece.organisation, piece.owner), 0),
            self._served.get(piece.owner, 0),
        )


def ahead(own: int, others: Iterable[int]) -> int:
    """How many jobs of an organisation start before one that has `own` earlier ones of the same person in front.

    `others`: how many each colleague has waiting. People take turns, so a colleague with a thousand jobs adds little.
    """
    return own + sum(min(count, own + 1) for count in others)
