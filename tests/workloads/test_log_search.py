"""A search in pieces finds what a search of the whole text finds, wherever the pieces are cut."""

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from apps.workloads.logs import search as searching
from apps.workloads.logs.search import Hit, Needle, Scan, search
from tests.searching import examples
from tests.workloads.reading import MemoryLog

# Few letters, so that hits are many, overlap, and lie across every border.
LETTERS = st.sampled_from(["a", "A", "b", "é", "É", "中", "👩", " ", "\n", "\t", "."])
CODES = st.sampled_from(["\x1b[31m", "\x1b[0m", "\x1b]0;ab\x07", "\x1b[", "\x1b", "\r", "\x08", "\x1b]8;;a\x1b\\"])
BROKEN = st.sampled_from([b"\xff", b"\xe4\xb8", b"\x80"])
PIECES = st.one_of(LETTERS.map(str.encode), LETTERS.map(str.encode), CODES.map(str.encode), BROKEN)
LOGS = st.lists(PIECES, max_size=400).map(b"".join)
NEEDLES = st.text(st.sampled_from("aAbéÉ中👩 .\t"), min_size=1, max_size=4)
CUTS = st.lists(st.integers(1, 300), min_size=1, max_size=30)


def whole(log: bytes, needle: Needle) -> list[Hit]:
    """All at once: without control sequences, by the regular expression alone."""
    shown, places, at = bytearray(), list[int](), 0
    for found in searching._SEQUENCE.finditer(log + b""):
        shown += log[at : found.start()]
        places += range(at, found.start())
        at = found.end()
    shown += log[at:]
    places += range(at, len(log))
    haystack = shown.lower() if needle.folded else shown
    return [Hit(places[m.start()], places[m.end() - 1] + 1) for m in needle.pattern.finditer(haystack)]


@given(LOGS, NEEDLES, CUTS, st.booleans())
@example(b"a\x1b[3" + b"1" * 60 + b"mb", "ab", [5, 1], True)
@settings(max_examples=examples(300))
def test_any_cutting_finds_what_the_whole_has(log: bytes, text: str, cuts: list[int], match_case: bool) -> None:
    needle = Needle.of(text, match_case=match_case)
    scan, at, turn = Scan(needle, 0), 0, 0
    while at < len(log):
        size = cuts[turn % len(cuts)]
        scan.feed(log[at : at + size])
        at, turn = at + size, turn + 1
    scan.finish()
    assert scan.hits == whole(log, needle)


@given(LOGS, NEEDLES, st.integers(1, 40), st.integers(1, 5), st.integers(1, 400))
@settings(max_examples=examples(200))
def test_answers_that_go_on_from_each_other_find_all(
    log: bytes, text: str, largest: int, most: int, piece: int
) -> None:
    assume(b"\x1b" not in log)
    needle, hits, offset, turns = Needle.of(text, match_case=True), list[Hit](), 0, 0
    while True:
        found = search(MemoryLog(log, largest=largest), needle, offset=offset, most=most, piece=piece)
        hits, offset, turns = hits + found.hits, found.next_offset, turns + 1
        assert len(found.hits) <= most
        if found.complete:
            break
        assert turns < len(log) + 2
    assert hits == whole(log, needle)
    assert offset == len(log)


@given(LOGS, NEEDLES, st.lists(st.integers(0, 2000), max_size=6))
@settings(max_examples=examples(200))
def test_a_log_that_grows_is_searched_once(log: bytes, text: str, ends: list[int]) -> None:
    assume(b"\x1b" not in log)
    needle, hits, offset = Needle.of(text, match_case=False), list[Hit](), 0
    for end in [*sorted(min(end, len(log)) for end in ends), len(log)]:
        found = search(MemoryLog(log[:end], ended=False), needle, offset=offset)
        hits, offset = hits + found.hits, found.next_offset
        assert not found.complete
    assert hits == whole(log, needle)


@pytest.mark.parametrize(
    ("text", "match_case", "log", "found"),
    [
        ("error", False, "ERROR error Error", 3),
        ("error", True, "ERROR error Error", 1),
        ("ÉCOLE", False, "école École", 2),
        ("训练", False, "训练 3 完成训练", 2),
        ("aa", True, "aaaa", 2),
        ("a.c", True, "abc a.c", 1),
        ("epoch 3", True, "\x1b[1mepoch\x1b[0m 3", 1),
        ("20%", True, "10%\r20%\r30%\n", 1),
        ("ab", True, "a\nb", 0),
        ("|", True, "a|b", 1),
    ],
)
def test_what_a_person_looks_for(text: str, match_case: bool, log: str, found: int) -> None:
    assert len(search(MemoryLog(log.encode()), Needle.of(text, match_case=match_case)).hits) == found


@pytest.mark.parametrize("text", ["", "a" * 257, "a\nb", "\x1b[31m", "\ud800"])
def test_what_no_line_can_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        Needle.of(text, match_case=True)


def test_hits_are_bytes_of_the_log() -> None:
    log = "训练 \x1b[32mok\x1b[0m\n".encode()
    [hit] = search(MemoryLog(log), Needle.of("练 ok", match_case=True)).hits
    assert log[hit.offset : hit.end] == "练 \x1b[32mok".encode()


def test_an_answer_is_bounded_in_hits_and_in_time() -> None:
    log, needle = MemoryLog(b"a" * 5_000_000), Needle.of("a", match_case=True)
    found = search(log, needle, most=1000)
    assert (len(found.hits), found.next_offset, log.questions) == (1000, 1000, 1)
    ticks = iter(range(100))
    slow = search(MemoryLog(b"b" * 5_000_000), needle, piece=1000, clock=lambda: float(next(ticks)))
    assert not slow.complete
    assert 0 < slow.next_offset < 3000


def test_a_search_of_a_hundred_megabytes_holds_a_piece_of_them() -> None:
    """The log is made as it is read; what is kept of it is at most a piece or two."""
    line = re.sub(rb"x", b"loss=0.5 ", b"x" * 100) + b"\n"
    whole_size = 100 * 1024 * 1024 // len(line) * len(line)

    def read(offset: int, limit: int) -> searching.LogChunk:
        end = min(offset + limit, whole_size)
        first = offset % len(line)
        data = (line * (limit // len(line) + 2))[first : first + end - offset]
        return searching.LogChunk(data, offset, end, end >= whole_size)

    scan = Scan(Needle.of("not there", match_case=False), 0)
    at = 0
    while at < 8 * searching.PIECE:
        chunk = read(at, searching.PIECE)
        scan.feed(chunk.data)
        at = chunk.next_offset
        assert len(scan._text.data) + len(scan._raw) < 1024
    found = search(read, Needle.of("not there", match_case=False))
    while not found.complete:
        found = search(read, Needle.of("not there", match_case=False), offset=found.next_offset)
    assert found.next_offset == whole_size
