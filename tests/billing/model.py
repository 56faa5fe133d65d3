"""What the books should say, kept in memory: the model that the state machine of money compares with."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from math import floor
from uuid import UUID

from apps.tenants.models import Organisation
from tests.billing.builders import Run
from tests.billing.storage_model import Shelf


@dataclass
class Metered:
    """The model's session: rate per replica, times, and how far it has been rated."""

    run: Run
    rate: Fraction
    proven: datetime
    rated: datetime
    closed: bool = False
    credited: Fraction = Fraction(0)

    def exact(self, until: datetime) -> Fraction:
        microseconds = (until - self.run.opened) // timedelta(microseconds=1)
        price = self.rate * self.run.replicas * microseconds / 3_600_000_000
        return Fraction(floor(price * 10**10), 10**10)


@dataclass
class Lab:
    """The model of one organisation: what came in and went out by decision, and what it ran."""

    organisation: Organisation
    paid_in: int = 0
    refunded: int = 0
    credit: int = 0
    slips: dict[str, int] = field(default_factory=dict)
    sessions: list[Metered] = field(default_factory=list)
    waiting: list[Run] = field(default_factory=list)
    released: set[UUID] = field(default_factory=set)
    shelves: list[Shelf] = field(default_factory=list)

    @property
    def exact(self) -> Fraction:
        """Of what ran and was kept, as far as it has been rated, less what was given back."""
        ran = sum((each.exact(each.rated) - each.credited for each in self.sessions), Fraction(0))
        return ran + sum((piece.exact for shelf in self.shelves for piece in shelf.pieces), Fraction(0))

    @property
    def charged(self) -> int:
        return floor(self.exact)

    @property
    def balance(self) -> int:
        return self.paid_in - self.refunded - self.charged

    @property
    def running(self) -> list[Metered]:
        return [each for each in self.sessions if not each.closed]
