"""Unified social credit codes (统一社会信用代码), GB 32100-2015: 18 characters, the last checks the others."""

import re

# The standard's alphabet leaves out I, O, S, V and Z, which are taken for digits and letters like them.
ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
MODULUS = len(ALPHABET)
WEIGHTS = tuple(pow(3, place, MODULUS) for place in range(17))
# Registering authority and kind, administrative area, the body's own code, check character.
SHAPE = re.compile(rf"[{ALPHABET}]{{2}}[0-9]{{6}}[{ALPHABET}]{{10}}")


def normalize_credit_code(text: str) -> str:
    """As it is printed: capitals, without the spaces and hyphens that people type between groups."""
    return re.sub(r"[\s-]", "", text).upper()


def check_character(first: str) -> str:
    """The 18th character for the first 17 (GB 32100-2015, 4.6): 31 − Σ cᵢ·3^(i−1) mod 31, 31 being 0."""
    total = sum(ALPHABET.index(letter) * weight for letter, weight in zip(first, WEIGHTS, strict=True))
    return ALPHABET[-total % MODULUS]


def is_credit_code(text: str) -> bool:
    """Whether `text`, as `normalize_credit_code` returns it, is a code with the right check character."""
    return SHAPE.fullmatch(text) is not None and check_character(text[:17]) == text[17]
