"""The line that says what went wrong, in what a Python program wrote last."""

import re

from apps.workloads.logs.search import without_controls

LONGEST = 200
_BEGIN = "Traceback (most recent call last):"
_RANK = re.compile(r"^\[rank\d+\]: ?")
_NAMED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt|Iteration|Warning)(: .*)?")


def exception_line(output: str) -> str:
    """The last exception with its message, on one line and cut to `LONGEST` characters; empty where there is none.

    That of the last traceback; where its head is cut off, or a file did not even parse, the last line that reads like
    an exception.
    """
    lines = [_RANK.sub("", line.rstrip()) for line in without_controls(output).splitlines()]
    begins = [number for number, line in enumerate(lines) if line == _BEGIN]
    after = lines[begins[-1] + 1 :] if begins else []
    found = next((line for line in after if line and not line[0].isspace()), "")
    if not found:
        found = next((line for line in reversed(lines) if _NAMED.fullmatch(line)), "")
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"
