"""Filters of `{% load pl %}`. Each shows a dash for None."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from apps.common import formatting
from apps.common.formatting import UNKNOWN
from apps.common.money import FEN_PER_YUAN, capital_yuan, yuan, yuan_rate


def yuan_of(fen: int | None) -> str:
    """123456 → `¥1,234.56`."""
    return UNKNOWN if fen is None else yuan(int(fen))


def amount(fen: int | None) -> str:
    """123456 → `1,234.56`, for columns whose header names the unit."""
    return UNKNOWN if fen is None else yuan(int(fen)).replace("¥", "")


def rate(fen_per_hour: Decimal | int | None) -> str:
    """780 → `¥7.80/h`."""
    return UNKNOWN if fen_per_hour is None else yuan_rate(Decimal(fen_per_hour))


def rate_amount(fen_per_hour: Decimal | int | None) -> str:
    """780 → `7.80`, for columns whose header says ¥/h."""
    return rate(fen_per_hour).removeprefix("¥").removesuffix("/h")


def exact_yuan(fen: Decimal | None) -> str:
    """Amounts below a fen, four places: 0.1234 fen … → `¥0.0012`."""
    return UNKNOWN if fen is None else f"¥{Decimal(fen) / FEN_PER_YUAN:,.4f}"


def dash(value: object) -> object:
    """The value, or a dash when it is None or empty. Zero stays zero."""
    return UNKNOWN if value is None or value == "" else value


def initial(name: str) -> str:
    """The letter in an avatar."""
    return name.strip()[:1].upper() or "?"


FILTERS: dict[str, Callable[..., Any]] = {
    "capital_yuan": capital_yuan,
    "yuan": yuan_of,
    "amount": amount,
    "rate": rate,
    "rate_amount": rate_amount,
    "exact_yuan": exact_yuan,
    "dash": dash,
    "initial": initial,
    "duration": formatting.duration,
    "elapsed": formatting.elapsed,
    "moment": formatting.moment,
    "file_size": formatting.file_size,
    "memory": formatting.memory,
    "gpu_memory": formatting.gpu_memory,
    "cores": formatting.cores,
    "percent": formatting.percent,
}
