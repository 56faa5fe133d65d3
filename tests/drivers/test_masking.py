"""Masking, against a definition that marks bytes one by one: the same for every way in which output can be cut."""

import base64
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.workloads.drivers.local.masking import MASK, SHORTEST, Masker, patterns

VALUE = "hf_Zr4wQpL81/mmTt+=="
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n  hkiG9w0BAQEFAASC\n-----END KEY-----\n"

# Few letters, so that values overlap each other and themselves, and nearly occur everywhere.
letters = st.text("ab", min_size=SHORTEST, max_size=10)
values = st.lists(letters, min_size=1, max_size=3)


@st.composite
def outputs(draw: st.DrawFn, of: Sequence[str]) -> bytes:
    """Text in which the values stand, whole and in parts."""
    pieces = st.one_of(st.text("abc", max_size=4), st.sampled_from(list(of)), st.sampled_from([v[:-1] for v in of]))
    return "".join(draw(st.lists(pieces, max_size=8))).encode()


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], bytes, list[int]]:
    found = draw(values)
    output = draw(outputs(found))
    return found, output, draw(st.lists(st.integers(0, len(output)), max_size=8))


def marked(forms: Sequence[bytes], output: bytes) -> bytes:
    """Each stretch of bytes that belong to an occurrence becomes one mask."""
    covered = [False] * len(output)
    for form in forms:
        for at in range(len(output)):
            if output.startswith(form, at):
                covered[at : at + len(form)] = [True] * len(form)
    out, before = b"", False
    for byte, hidden in zip(output, covered, strict=True):
        out += (b"" if before else MASK) if hidden else bytes([byte])
        before = hidden
    return out


def fed(forms: Sequence[bytes], pieces: Sequence[bytes]) -> bytes:
    masker = Masker(forms)
    return b"".join(map(masker.feed, pieces)) + masker.flush()


def cut(output: bytes, places: Sequence[int]) -> list[bytes]:
    bounds = [0, *sorted(places), len(output)]
    return [output[start:end] for start, end in pairwise(bounds)]


@given(cases())
@example((["aaaaaa"], b"a" * 20, [1, 7, 13]))
@example((["ababab", "bababa"], b"cababababac", [3, 4, 9]))
@example((["aaaaab"], b"aaaaaaaaab", [2]))
def test_however_the_output_is_cut_the_log_is_the_same(case: tuple[list[str], bytes, list[int]]) -> None:
    found, output, places = case
    forms = patterns(found)
    assert fed(forms, cut(output, places)) == marked(forms, output)


@given(cases())
def test_byte_by_byte_and_no_value_remains(case: tuple[list[str], bytes, list[int]]) -> None:
    found, output, _places = case
    forms = patterns(found)
    log = fed(forms, [bytes([byte]) for byte in output])
    assert log == marked(forms, output)
    assert not any(value.encode() in log for value in found)


@given(cases())
def test_what_is_held_back_is_what_a_value_may_begin_with(case: tuple[list[str], bytes, list[int]]) -> None:
    found, output, places = case
    forms = patterns(found)
    masker = Masker(forms)
    for piece in cut(output, places):
        masker.feed(piece)
        held = masker._held
        assert not held or any(form.startswith(held) and form != held for form in forms)


@given(st.text(min_size=SHORTEST, max_size=80), st.binary(max_size=5), st.binary(max_size=5), st.data())
def test_encoded_forms_are_found_wherever_they_begin(
    value: str, before: bytes, after: bytes, data: st.DataObject
) -> None:
    encoded = value.encode(errors="ignore")
    value = encoded.decode()
    if len(value) < SHORTEST:
        return
    forms = patterns([value])
    together = base64.b64encode(before + encoded + after)
    first, last = -(-len(before) * 8 // 6), (len(before) + len(encoded)) * 8 // 6
    log = fed(forms, cut(together, data.draw(st.lists(st.integers(0, len(together)), max_size=3))))
    assert together[first:last] not in log
    assert MASK in fed(forms, [quote(value, safe="").encode()])


@pytest.mark.parametrize(
    "printed",
    [
        VALUE,
        base64.b64encode(VALUE.encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        quote(VALUE, safe=""),
        quote(VALUE),
        quote(VALUE, safe="").replace("%2F", "/"),
    ],
)
def test_forms_of_a_token(printed: str) -> None:
    assert fed(patterns([VALUE]), [f"token={printed}&x".encode()]) == b"token=***&x"


def test_the_lines_of_a_key_are_masked_each_by_itself() -> None:
    forms = patterns([KEY])
    assert fed(forms, [b"> hkiG9w0BAQEFAASC\n"]) == b"> ***\n"
    assert b"MIIEvQ" not in fed(forms, [repr(KEY).encode()])
    assert fed(forms, [base64.encodebytes(KEY.encode())]).count(b"***") >= 1
    assert fed(forms, [KEY.encode()]) == b"***"


def test_a_header_of_user_and_password_is_masked_where_it_holds_the_password() -> None:
    header = base64.b64encode(b"alice:" + VALUE.encode())
    assert fed(patterns([VALUE]), [header]).startswith(base64.b64encode(b"alice:")[:8] + b"***")


def test_short_values_leave_the_log_alone() -> None:
    assert patterns(["12345", ""]) == ()
    assert patterns(["123456"])


def test_a_note_of_the_platform_does_not_end_what_is_held_back() -> None:
    masker = Masker(patterns(["secret-value"]))
    out = masker.feed(b"secret-") + masker.whole(b"[secret-value]") + masker.feed(b"value.")
    assert out == b"[***]***."
