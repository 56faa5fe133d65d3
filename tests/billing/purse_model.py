"""What an organisation should have, kept in memory: the model that the state machine of its purses compares with."""

from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor

from apps.billing.models import PrepaidOrder
from tests.billing.model import Metered


@dataclass
class Part:
    """One purchase of prepaid time."""

    order: PrepaidOrder
    fen: int
    start: datetime
    end: datetime
    earned: int = 0
    returned: int = 0
    cut: bool = False


@dataclass
class Purse:
    """The model of one organisation."""

    came_in: int = 0
    granted: int = 0
    ended: int = 0
    parts: list[Part] = field(default_factory=list)
    sessions: list[Metered] = field(default_factory=list)

    @property
    def used(self) -> int:
        return floor(sum((each.exact(each.rated) for each in self.sessions), Fraction(0)))

    @property
    def prepaid(self) -> int:
        return sum(part.fen - part.returned for part in self.parts)

    @property
    def earned(self) -> int:
        return sum(part.earned for part in self.parts)
