"""Amounts between whole fen and the gateway's yuan with two decimals. No float ever stands between."""

import re

_YUAN = re.compile(r"(0|[1-9]\d{0,11})(?:\.(\d{1,2}))?", re.ASCII)


def yuan_of(fen: int) -> str:
    """`"12.34"` for 1234 fen. Raises ValueError below one fen."""
    if fen <= 0:
        raise ValueError("an amount is at least one fen")
    return f"{fen // 100}.{fen % 100:02d}"


def fen_of(yuan: str) -> int:
    """1234 for `"12.34"`, `"12"` is 1200. Raises ValueError for anything else: signs, exponents, three decimals."""
    found = _YUAN.fullmatch(yuan)
    if found is None:
        raise ValueError(f"no amount in yuan: {yuan[:40]!r}")
    whole, rest = found.groups()
    return int(whole) * 100 + int((rest or "").ljust(2, "0"))
