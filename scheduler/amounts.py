"""Clean up sizes that nodes report, which are not trusted."""

import math

LARGEST = 1 << 50


def clean_size(reported: float) -> int:
    """The size that a node reported, at most `LARGEST`; 0 if it is negative, not a number or infinite."""
    return max(0, min(int(reported), LARGEST)) if math.isfinite(reported) else 0
