"""Unified social credit codes: right ones are taken, one wrong character is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.invoices.tax_numbers import ALPHABET, check_character, is_credit_code, normalize_credit_code

CODE = "91350100M000100Y43"  # the example of GB 32100-2015


@pytest.mark.parametrize("code", [CODE, "91330100799655058B", "9144030071526726XG", "914403001922038216"])
def test_real_credit_codes_are_right(code: str) -> None:
    assert is_credit_code(code)
    assert is_credit_code(normalize_credit_code(f" {code[:2].lower()}-{code[2:8]} {code[8:].lower()} "))


@given(place=st.integers(0, 17), letter=st.sampled_from(ALPHABET))
def test_one_wrong_character_is_always_noticed(place: int, letter: str) -> None:
    wrong = CODE[:place] + letter + CODE[place + 1 :]
    assert is_credit_code(wrong) == (wrong == CODE)


@given(body=st.text(ALPHABET, min_size=9, max_size=9), area=st.from_regex(r"\A[0-9]{6}\Z"))
def test_the_check_character_makes_a_code_right(body: str, area: str) -> None:
    first = f"91{area}{body}"
    assert is_credit_code(first + check_character(first))


@pytest.mark.parametrize("text", ["", "91350100M000100Y4", "91350100M000100Y433", "9135010OM000100Y43", "一" * 18])
def test_what_is_no_code_is_refused(text: str) -> None:
    assert not is_credit_code(text)
