"""What a price by the hour comes to over a day, a month and a year."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# A month of 30 days, a year of 365: for comparing, never for charging.
_HOURS = ((_("A day"), 24), (_("30 days"), 30 * 24), (_("365 days"), 365 * 24))


@dataclass(frozen=True, slots=True)
class OverTerm:
    label: str | Promise
    fen: int


def over_terms(rate_fen_per_hour: Decimal) -> Sequence[OverTerm]:
    """Whole fen, rounded half to even: nothing is charged by these."""
    return [OverTerm(label, round(rate_fen_per_hour * hours)) for label, hours in _HOURS]
