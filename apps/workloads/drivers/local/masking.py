"""Takes secrets out of what a program prints, before anybody stores or sees it. Standard library only.

This keeps a secret out of a log by accident; it does not hold against a program that wants to tell it.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote, quote_plus

MASK = b"***"
SHORTEST = 6
"""Characters. A shorter value would take innocent words out of the log."""
WRAPPED = 76  # columns of base64(1) and of MIME


def patterns(values: Iterable[str]) -> tuple[bytes, ...]:
    """What is looked for: each value whole and line by line, as base64, in a URL and in JSON; the longest first."""
    found = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
    encoded = {form.encode() if isinstance(form, str) else form for form in found if len(form) >= SHORTEST}
    return tuple(sorted(encoded, key=lambda form: (-len(form), form)))


def _forms(value: str) -> Iterator[str | bytes]:
    trimmed = value.strip()
    lines = [line.strip() for line in trimmed.splitlines()]
    for text in {value, trimmed, *lines}:
        yield text
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]
    for text in {value, trimmed}:
        yield quote(text, safe="")
        yield quote(text)
        yield quote(text, safe="!'()*~")  # as browsers do
        yield quote_plus(text)
        yield from _encoded(text.encode())


def _encoded(data: bytes) -> Iterator[bytes]:
    """As base64 in both alphabets: alone, in lines, and in the middle of something longer, wherever it begins there."""
    for altchars in (b"+/", b"-_"):
        whole = base64.b64encode(data, altchars)
        yield whole
        yield from (whole[at : at + WRAPPED] for at in range(0, len(whole), WRAPPED))
        for before in range(3):
            # Characters that hold bits of what comes before or after are not those of the secret alone.
            first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
            yield base64.b64encode(bytes(before) + data, altchars)[first:last]


class Masker:
    """Replaces every run of bytes that belongs to an occurrence of a pattern by `MASK`, however the bytes arrive.

    Held back is only an end of what came that a pattern may begin with: as a rule nothing.
    """

    def __init__(self, forms: Sequence[bytes]) -> None:
        """`forms`: of `patterns`, none shorter than `SHORTEST`."""
        self._patterns = forms
        self._beginnings = frozenset(form[:size] for form in self._patterns for size in range(1, SHORTEST))
        self._held = b""
        self._covered = 0  # so many bytes at the start of what is held belong to an occurrence that began before it
        self._in_mask = False  # whether the last byte that was let go was masked

    def feed(self, data: bytes) -> bytes:
        """What may be stored now."""
        if not self._patterns:
            return data
        data = self._held + data if self._held else data
        return self._let_go(data, self._undecided(data))

    def flush(self) -> bytes:
        """What was held back, at the end."""
        return self._let_go(self._held, len(self._held))

    def whole(self, data: bytes) -> bytes:
        """A text that is complete in itself, whatever is held back of the stream."""
        other = Masker(self._patterns)
        return other.feed(data) + other.flush()

    def _let_go(self, data: bytes, upto: int) -> bytes:
        """`data[:upto]` with its masks; the rest is held, with what is known of it."""
        out: list[bytes] = []
        at, covered = 0, max(0, self._covered - upto)
        for start, end in self._runs(data):
            if start >= upto:
                break
            if start > at:
                out.append(data[at:start])
            if start > at or not self._in_mask:
                out.append(MASK)
            self._in_mask = True
            at, covered = min(end, upto), max(covered, end - upto)
        if at < upto:
            out.append(data[at:upto])
            self._in_mask = False
        self._held, self._covered = data[upto:], covered
        return b"".join(out)

    def _runs(self, data: bytes) -> list[tuple[int, int]]:
        """The stretches of `data` that belong to occurrences, joined where they touch, in order."""
        spans = [(0, self._covered)] if self._covered else []
        for form in self._patterns:
            at = data.find(form)
            while at >= 0:
                spans.append((at, at + len(form)))
                at = data.find(form, at + 1)
        runs: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if runs and start <= runs[-1][1]:
                runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
            else:
                runs.append((start, end))
        return runs

    def _undecided(self, data: bytes) -> int:
        """Where the longest end of `data` begins that a pattern may begin with; its length where there is none."""
        first = size = len(data)
        for form in self._patterns:
            head = form[:SHORTEST]
            at = data.find(head, max(0, size - len(form) + 1))
            while 0 <= at < first:
                if form.startswith(data[at:]):
                    first = at
                at = data.find(head, at + 1)
        for at in range(max(0, size - SHORTEST + 1), first):
            if data[at:] in self._beginnings:
                return at
        return first
