"""Which replicas a prepaid order covers at which time: pure, a function of what was bought and what ran.

Whoever of the organisation started first sits first: the places of all orders of a package are taken in the order of
the sessions' openings. What a session gets therefore depends on earlier sessions only, never on when somebody rates
it; a session holds its places until it is closed.

Whether an open session still runs is known up to its last proof only, and it may turn out to have ended there. What a
later one gets after that is not certain yet (`certain_until`): it is not charged before it is, so that nobody pays by
the hour for a place that was free. One that has been silent for too long has left its places at its last proof.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Cover:
    """`quantity` places for replicas of a package in [start, end)."""

    package_id: int
    start: datetime
    end: datetime
    quantity: int


@dataclass(frozen=True, slots=True)
class Occupant:
    """A session that may take places: [opened, closed), without an end while it runs.

    `proven`: while it is open, its last proof of running; None: nobody doubts that it runs.
    """

    session_id: UUID
    package_id: int
    opened: datetime
    closed: datetime | None
    replicas: int
    proven: datetime | None = None

    def precedes(self, other: "Occupant") -> bool:
        return (self.opened, self.session_id) < (other.opened, other.session_id)

    @property
    def known_end(self) -> datetime | None:
        """Its end, as far as anything is known of it."""
        return self.closed or self.proven


@dataclass(frozen=True, slots=True)
class Covering:
    """What an organisation has paid for in advance and what ran beside it, over some span of time.

    `silent_before`: whoever is open and was last proven before it has left at its last proof.
    """

    covers: Sequence[Cover] = ()
    occupants: Sequence[Occupant] = ()
    silent_before: datetime | None = None

    def at(self, who: Occupant, at: datetime) -> int:
        """Replicas of `who` that are covered at this moment."""
        return self._seated(who, at, self._left)

    def certain_until(self, who: Occupant, start: datetime, end: datetime) -> datetime:
        """Where in [start, end) it begins to depend on whether earlier sessions still run; `end` if nowhere."""
        proofs = (each.proven for each in self._earlier(who) if each.proven and start < each.proven < end)
        edges = sorted({start, *proofs, *(edge for edge in self._edges(who) if start < edge < end)})
        doubtful = (e for e in edges if self.at(who, e) != self._seated(who, e, lambda each: each.known_end))
        return next(doubtful, end) if start < end else end

    def _seated(self, who: Occupant, at: datetime, left: Callable[[Occupant], datetime | None]) -> int:
        places = sum(each.quantity for each in self._covers(who) if each.start <= at < each.end)
        if not places:
            return 0
        ends = ((each, left(each)) for each in self._earlier(who) if each.opened <= at)
        taken = sum(each.replicas for each, end in ends if end is None or at < end)
        return max(0, min(places - taken, who.replicas))

    def _left(self, who: Occupant) -> datetime | None:
        """When it has left its places; None: it still has them."""
        silent = who.proven is not None and self.silent_before is not None and who.proven < self.silent_before
        return who.proven if who.closed is None and silent else who.closed

    def pieces(self, who: Occupant, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime, int]]:
        """[start, end) in half-open pieces, each with the replicas covered throughout it; nothing when it is empty.

        Neighbours differ in what is covered, so the cuts do not depend on where the caller cuts.
        """
        edges = sorted({start, *(edge for edge in self._edges(who) if start < edge < end)})
        since: datetime | None = None
        former = 0
        for edge in edges:
            covered = self.at(who, edge)
            if since is not None and covered != former:
                yield since, edge, former
                since = edge
            since, former = since or edge, covered
        if since is not None and since < end:
            yield since, end, former

    def _covers(self, who: Occupant) -> Iterable[Cover]:
        return (each for each in self.covers if each.package_id == who.package_id)

    def _earlier(self, who: Occupant) -> Iterable[Occupant]:
        return (each for each in self.occupants if each.package_id == who.package_id and each.precedes(who))

    def _edges(self, who: Occupant) -> Iterator[datetime]:
        for cover in self._covers(who):
            yield from (cover.start, cover.end)
        for each in self._earlier(who):
            yield each.opened
            if (left := self._left(each)) is not None:
                yield left


NOTHING = Covering()
