"""The arithmetic of rating: pure, exact, integer at heart."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal

from apps.common.money import whole_fen

MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
_MICROSECONDS_PER_HOUR = 3_600_000_000
_PLACES = 10
_OFF_PLACES = 4
NOTHING_OFF = Decimal(0)


def exact_fen(rate_fen_per_hour: Decimal, replicas: int, length: timedelta, off: Decimal = NOTHING_OFF) -> Decimal:
    """rate × (1 − off) × replicas × length, in fen, cut off after ten places. `off` has at most four.

    A third of an hour has no finite decimal, so truncating each slice on its own would lose a little per slice. Charges
    are therefore differences of this function at a session's offsets: they always add up to the price of the whole,
    however it was cut.
    """
    # Integers, because the product has more digits than the decimal context keeps.
    units = int(rate_fen_per_hour.scaleb(_PLACES).to_integral_exact())
    kept = int((1 - off).scaleb(_OFF_PLACES).to_integral_exact())
    total = units * kept * replicas * (length // MICROSECOND) // (_MICROSECONDS_PER_HOUR * 10**_OFF_PLACES)
    return Decimal(total).scaleb(-_PLACES)


def net_rate(rate_fen_per_hour: Decimal, off: Decimal) -> Decimal:
    """Fen per hour with the discount taken off."""
    return rate_fen_per_hour * (1 - off)


def hour_price(rate_fen_per_hour: Decimal, replicas: int, off: Decimal = NOTHING_OFF) -> int:
    """Whole fen that cover one hour."""
    return int((net_rate(rate_fen_per_hour, off) * replicas).to_integral_value(rounding=ROUND_CEILING))


def net_fen(fen: int, off: Decimal) -> int:
    """Whole fen after the discount, rounded up, so that rounding never makes anything free."""
    return int((fen * (1 - off)).to_integral_value(rounding=ROUND_CEILING))


def seconds(length: timedelta) -> Decimal:
    """Seconds to six places, without the detour through a float."""
    return Decimal(length // MICROSECOND).scaleb(-6)


def cut_at_hours(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Half-open pieces that tile [start, end) without crossing a full UTC hour; none for an empty span."""
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    while start < end:
        boundary = start.replace(minute=0, second=0, microsecond=0) + HOUR
        piece_end = min(boundary, end)
        yield start, piece_end
        start = piece_end


def largest_remainder(parts: Sequence[Decimal], total: int) -> list[int]:
    """Whole numbers near `parts` that add up to `total`: each rounded down, the rest to the largest fractions.

    `total` must lie between the sum of the floors and that sum plus one for each part; ties go to the earlier.
    ValueError otherwise.
    """
    floors = [whole_fen(part) for part in parts]
    rest = total - sum(floors)
    if not 0 <= rest <= len(parts):
        raise ValueError(f"{total} is no rounding of these {len(parts)} parts")
    by_fraction = sorted(range(len(parts)), key=lambda index: floors[index] - parts[index])
    for index in by_fraction[:rest]:
        floors[index] += 1
    return floors
