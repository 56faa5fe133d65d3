"""Fen in, words out, and back; nothing that could be read two ways is accepted."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.money import parse_yuan, whole_fen, yuan, yuan_rate


@given(st.integers(-(10**15), 10**15))
def test_what_is_written_is_read_back(fen: int) -> None:
    assert parse_yuan(yuan(fen)) == fen


@pytest.mark.parametrize(
    ("text", "fen"), [("12", 1200), ("12.5", 1250), (" ¥1,234.56 ", 123456), ("0.01", 1), ("-3.00", -300)]
)
def test_amounts_as_people_type_them(text: str, fen: int) -> None:
    assert parse_yuan(text) == fen


@pytest.mark.parametrize(
    "text", ["", "¥", "1,5", "1,23", "12,34.5", "1.234", ".5", "5.", "1e3", "一百", "１２", "1 000", "--1", "1,,000"]
)
def test_what_could_be_read_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  the text itself is the message
        parse_yuan(text)


def test_rates_show_fractions_of_a_fen_only_where_there_are_some() -> None:
    assert yuan_rate(Decimal(780)) == "¥7.80/h"
    assert yuan_rate(Decimal("0.05")) == "¥0.0005/h"


def test_rounding_never_charges_early() -> None:
    assert whole_fen(Decimal("1.9999999999")) == 1
