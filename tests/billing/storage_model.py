"""What storage should cost, kept in memory: one thing that is kept, in pieces of equal terms."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from math import floor
from uuid import UUID, uuid4

from apps.tenants.models import Organisation

GRAIN = timedelta(microseconds=1)


@dataclass
class Tariff:
    """What has been decided: prices by the moment from which they hold, discounts with their ends as well."""

    prices: list[tuple[datetime, Fraction]] = field(default_factory=list)
    discounts: dict[UUID, list[tuple[datetime, datetime | None, Fraction]]] = field(default_factory=dict)

    def price_at(self, moment: datetime) -> int | None:
        """The number of the price that holds."""
        begun = [number for number, (start, _rate) in enumerate(self.prices) if start <= moment]
        return begun[-1] if begun else None

    def discount_at(self, whose: UUID, moment: datetime) -> int | None:
        """The number of the discount that holds; a later one ends the former."""
        begun = [number for number, (start, _end, _off) in enumerate(self.of(whose)) if start <= moment]
        end = self.of(whose)[begun[-1]][1] if begun else None
        return None if not begun or (end is not None and end <= moment) else begun[-1]

    def of(self, whose: UUID) -> list[tuple[datetime, datetime | None, Fraction]]:
        return self.discounts.get(whose, [])

    def off(self, whose: UUID, moment: datetime) -> Fraction:
        number = self.discount_at(whose, moment)
        return Fraction(0) if number is None else self.of(whose)[number][2]

    def moments(self, whose: UUID, since: datetime, until: datetime) -> list[datetime]:
        """Within [since, until): what begins in the very moment of a look may be decided just after it."""
        found = {start for start, _rate in self.prices}
        found |= {moment for start, end, _off in self.of(whose) for moment in (start, end) if moment}
        return sorted(moment for moment in found if since <= moment < until)


@dataclass
class Piece:
    """A time of equal terms: of one price, one discount and one size."""

    terms: tuple[int, int | None, int]
    rate: Fraction
    start: datetime
    end: datetime
    closed: bool = False
    rated: datetime | None = None

    @property
    def exact(self) -> Fraction:
        """Of what has been rated, in fen, cut off after ten places as every session is."""
        fen = self.rate * (((self.rated or self.start) - self.start) // GRAIN) / 3_600_000_000
        return Fraction(floor(fen * 10**10), 10**10)


@dataclass
class Shelf:
    """A volume: `gib` is its size now, which the meter learns when it looks."""

    lab: Organisation
    gib: int = 0
    id: UUID = field(default_factory=uuid4)
    pieces: list[Piece] = field(default_factory=list)

    def seen(self, tariff: Tariff, now: datetime) -> None:
        """It was as it was at the last look until now; what is gone ended at the last look."""
        last = self.pieces[-1] if self.pieces and not self.pieces[-1].closed else None
        if last is not None and not self.gib:
            last.closed = True
            return
        if last is not None:
            size, since = last.terms[2], last.end
            for moment in (*tariff.moments(self.lab.pk, since, now), now):
                self._until(moment)
                self._turn(tariff, moment, self.gib if moment == now else size)
        elif self.gib and tariff.price_at(now) is not None:
            self._begin(tariff, now, self.gib)

    def _until(self, moment: datetime) -> None:
        self.pieces[-1].end = moment

    def _turn(self, tariff: Tariff, at: datetime, gib: int) -> None:
        if self.pieces[-1].terms != (tariff.price_at(at), tariff.discount_at(self.lab.pk, at), gib):
            self.pieces[-1].closed = True
            self._begin(tariff, at, gib)

    def _begin(self, tariff: Tariff, at: datetime, gib: int) -> None:
        price = tariff.price_at(at)
        assert price is not None
        rate = tariff.prices[price][1] * (1 - tariff.off(self.lab.pk, at)) * gib
        self.pieces.append(Piece((price, tariff.discount_at(self.lab.pk, at), gib), rate, at, at))

    def rate_due(self, least: timedelta) -> None:
        for each in self.pieces:
            if each.closed or each.end - (each.rated or each.start) >= least:
                each.rated = each.end
