"""Sizes as nodes report them are not trusted."""

import math

LARGEST = 1 << 50


def amount(reported: float) -> int:
    """A size as reported by a node; 0 for what is no size (negative, not a number, infinite)."""
    return max(0, min(int(reported), LARGEST)) if math.isfinite(reported) else 0
