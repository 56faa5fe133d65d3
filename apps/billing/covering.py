"""Which replicas a prepaid order covers at which time: pure, a function of what was bought and what ran.

Whoever of the organisation started first sits first: the places of all orders of a package are taken in the order of
the sessions' openings. What a session gets therefore depends on earlier sessions only, never on when somebody rates
it; a session holds its places until it is closed.
"""

from collections.abc import Iterable, Iterator, Sequence
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
    """A session that may take places: [opened, closed), without an end while it runs."""

    session_id: UUID
    package_id: int
    opened: datetime
    closed: datetime | None
    replicas: int

    def precedes(self, other: "Occupant") -> bool:
        return (self.opened, self.session_id) < (other.opened, other.session_id)

    def runs_at(self, at: datetime) -> bool:
        return self.opened <= at and (self.closed is None or at < self.closed)


@dataclass(frozen=True, slots=True)
class Covering:
    """What an organisation has paid for in advance and what ran beside it, over some span of time."""

    covers: Sequence[Cover] = ()
    occupants: Sequence[Occupant] = ()

    def at(self, who: Occupant, at: datetime) -> int:
        """Replicas of `who` that are covered at this moment."""
        places = sum(each.quantity for each in self._covers(who) if each.start <= at < each.end)
        if not places:
            return 0
        taken = sum(each.replicas for each in self._earlier(who) if each.runs_at(at))
        return max(0, min(places - taken, who.replicas))

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
            if each.closed is not None:
                yield each.closed


NOTHING = Covering()
