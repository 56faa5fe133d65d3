"""The pure arithmetic, against fractions."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.billing.arithmetic import (
    HOUR,
    cut_at_hours,
    exact_fen,
    hour_price,
    largest_remainder,
    net_fen,
    net_rate,
    seconds,
)
from tests.searching import examples

EPOCH = datetime(2028, 2, 28, tzinfo=UTC)
rates = st.decimals(0, 10**8, places=10, allow_nan=False)
microseconds = st.integers(0, 10**13)
parts = st.lists(st.decimals(-(10**6), 10**6, places=10, allow_nan=False), min_size=1, max_size=20)
quick = settings(max_examples=examples(200), derandomize=True, deadline=None, database=None)


@quick
@given(rates, st.integers(1, 64), microseconds)
def test_exact_is_the_fraction_cut_off_at_ten_places(rate: Decimal, replicas: int, length: int) -> None:
    true = Fraction(rate) * replicas * length / 3_600_000_000
    assert Fraction(exact_fen(rate, replicas, timedelta(microseconds=length))) == Fraction(floor(true * 10**10), 10**10)


@quick
@given(rates, st.integers(1, 64))
def test_an_hour_costs_the_rate_and_a_hold_covers_it(rate: Decimal, replicas: int) -> None:
    assert exact_fen(rate, replicas, HOUR) == rate * replicas
    assert 0 <= hour_price(rate, replicas) - rate * replicas < 1


def test_a_discount_comes_off_before_anything_is_rounded() -> None:
    quarter = Decimal("0.25")
    assert net_rate(Decimal("100.2"), quarter) == Decimal("75.15")
    assert exact_fen(Decimal("100.2"), 2, HOUR / 2, quarter) == Decimal("75.15")
    assert hour_price(Decimal("100.2"), 1, quarter) == 76
    assert [net_fen(fen, quarter) for fen in (100, 3, 1, 0)] == [75, 3, 1, 0]
    assert (net_rate(Decimal(7), Decimal(1)), net_fen(7, Decimal(1))) == (0, 0)


def test_an_odd_moment_is_cut_at_the_next_full_hour() -> None:
    start, end = (datetime(2028, 2, 29, *time, tzinfo=UTC) for time in ((10, 20, 30, 500_000), (12, 0, 1)))
    eleven, twelve = (datetime(2028, 2, 29, hour, tzinfo=UTC) for hour in (11, 12))
    assert list(cut_at_hours(start, end)) == [(start, eleven), (eleven, twelve), (twelve, end)]
    assert list(cut_at_hours(eleven, eleven)) == []


@quick
@given(microseconds, st.integers(0, 10**10))
def test_pieces_tile_and_cross_no_hour(offset: int, length: int) -> None:
    start = EPOCH + timedelta(microseconds=offset)
    end = start + timedelta(microseconds=length)
    pieces = list(cut_at_hours(start, end))
    edges = [start, *(piece_end for _, piece_end in pieces)]
    assert edges[-1] == end
    assert [piece_start for piece_start, _ in pieces] == edges[:-1]
    for piece_start, piece_end in pieces:
        assert piece_start < piece_end
        last = piece_end - timedelta(microseconds=1)
        assert (last.date(), last.hour) == (piece_start.date(), piece_start.hour)


@quick
@given(parts, st.decimals(0, "0.9999999999", places=10))
def test_largest_remainder_adds_up_and_stays_within_a_fen(exact: list[Decimal], carried: Decimal) -> None:
    total = floor(sum(exact) + carried)
    amounts = largest_remainder(exact, total)
    assert sum(amounts) == total
    assert all(0 <= amount - floor(part) <= 1 for amount, part in zip(amounts, exact, strict=True))


def test_largest_remainder_prefers_the_largest_fraction_then_the_first() -> None:
    assert largest_remainder([Decimal("1.2"), Decimal("1.7"), Decimal("1.2")], 4) == [1, 2, 1]
    assert largest_remainder([Decimal("0.5"), Decimal("0.5")], 1) == [1, 0]
    assert largest_remainder([Decimal("-0.5"), Decimal("-1.2")], -2) == [-1, -1]


@pytest.mark.parametrize("total", [1, 5])
def test_largest_remainder_refuses_what_is_no_rounding(total: int) -> None:
    with pytest.raises(ValueError, match="no rounding"):
        largest_remainder([Decimal("1.2"), Decimal("1.7")], total)


def test_seconds_keep_six_places() -> None:
    assert seconds(timedelta(hours=1, microseconds=1)) == Decimal("3600.000001")
    assert seconds(timedelta(days=200_000, microseconds=1)) == Decimal("17280000000.000001")
