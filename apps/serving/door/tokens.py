"""How many tokens an answer says that it took: read along as it passes, never held back.

Servers that speak OpenAI's protocol end an answer with `usage`: a JSON answer as one of its last members, a streamed
one in the chunk before `[DONE]` where the caller asked for it (`stream_options`). So the end of an answer is enough.
"""

import json
import re

KEPT_BYTES = 64 * 1024
USAGE = re.compile(rb'(?<!\\)"usage"\s*:\s*(?=\{)')
MOST_TOKENS = 10**9


class Tokens:
    """Of one answer."""

    def __init__(self) -> None:
        self._end = bytearray()

    def feed(self, piece: bytes) -> None:
        self._end += piece
        if len(self._end) > 2 * KEPT_BYTES:  # seldom, so that small pieces do not move all that is kept
            del self._end[:-KEPT_BYTES]

    def told(self) -> tuple[int, int] | None:
        """In and out, as the last `usage` says; None where there is none that can be read."""
        end = bytes(self._end[-KEPT_BYTES:])
        for found in reversed(list(USAGE.finditer(end))):
            told = _read(end[found.end() :])
            if told is not None:
                return told
        return None


def _read(text: bytes) -> tuple[int, int] | None:
    try:
        usage, _end = json.JSONDecoder().raw_decode(text.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    taken = _count(usage, "prompt_tokens", "input_tokens")
    made = _count(usage, "completion_tokens", "output_tokens")
    return None if taken is None else (taken, made or 0)


def _count(usage: dict[str, object], *names: str) -> int | None:
    """Chat and completions have the first name, responses the second one."""
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
            return value
    return None
