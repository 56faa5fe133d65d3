"""Amounts in Chinese financial numerals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.money import capital_yuan

DIGITS = {digit: value for value, digit in enumerate("零壹贰叁肆伍陆柒捌玖")}
PLACES = {"拾": 10, "佰": 100, "仟": 1000}


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        (0, "零元整"),
        (1, "壹分"),
        (50, "伍角整"),
        (105, "壹元零伍分"),
        (1_000, "壹拾元整"),
        (1_234_567, "壹万贰仟叁佰肆拾伍元陆角柒分"),
        (1_000_050, "壹万元零伍角整"),
        (10_000_100, "壹拾万零壹元整"),
        (100_000_000, "壹佰万元整"),
        (20_000_000_000, "贰亿元整"),
        (2_000_030_000, "贰仟万零叁佰元整"),
        (-50_000, "负伍佰元整"),
    ],
)
def test_amounts_as_a_bank_writes_them(fen: int, words: str) -> None:
    assert capital_yuan(fen) == words


def read(text: str) -> int:
    """Fen of an amount in words; refuses what no such amount contains."""
    fen = section = digit = low = high = 0
    for letter in text.removeprefix("负"):
        if letter in DIGITS:
            digit = DIGITS[letter]
        elif letter in PLACES:
            section, digit = section + digit * PLACES[letter], 0
        elif letter == "万":
            low, section, digit = (section + digit) * 10_000, 0, 0
        elif letter == "亿":
            high, low, section, digit = (low + section + digit) * 100_000_000, 0, 0, 0
        elif letter == "元":
            fen, section, digit = (high + low + section + digit) * 100, 0, 0
        elif letter in "角分":
            fen, digit = fen + digit * (10 if letter == "角" else 1), 0
        else:
            assert letter == "整"
    return -fen if text.startswith("负") else fen


@given(st.integers(-99_999_999_999, 99_999_999_999))
def test_words_read_back_are_the_amount(fen: int) -> None:
    words = capital_yuan(fen)
    assert read(words) == fen
    assert "零零" not in words
    assert words.endswith(("整", "分"))
