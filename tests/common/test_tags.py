"""Tags: what may be one, and that reading what was written changes nothing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.common.tag_fields import TagsField
from apps.common.tags import LONGEST, LONGEST_KEY, MOST, check, fold, join, keys, parse

WORD = st.text(st.characters(categories=["L", "N", "M"], include_characters="-_."), min_size=1, max_size=12)
TAG = st.one_of(WORD, st.tuples(WORD, WORD).map(":".join))
TAGS = st.lists(TAG, max_size=MOST)


@given(TAGS)
def test_what_is_kept_reads_back_as_itself(words: list[str]) -> None:
    kept = check(words)
    assert parse(join(kept)) == kept
    assert check(kept) == kept


@given(TAGS)
def test_no_two_that_are_kept_differ_in_case_only(words: list[str]) -> None:
    kept = check(words)
    assert len(set(keys(kept))) == len(kept)
    assert set(keys(kept)) == set(keys(words))


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_and_fits_its_column(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    composed = unicodedata.normalize("NFC", text)
    assert fold(composed) == fold(text)
    assert len(fold(composed)) <= LONGEST_KEY or len(composed) > LONGEST


@given(st.text(max_size=60))
def test_any_text_is_tags_or_is_refused_in_words(text: str) -> None:
    found, said = outcome(text)
    assert bool(said) or all(1 <= len(tag) <= LONGEST and not set(tag) & set(" ,;\n\t\x00") for tag in found)


def outcome(text: str) -> tuple[tuple[str, ...], str]:
    """The tags, or what is said against them; any other error is the test's failure."""
    try:
        return parse(text), ""
    except Invalid as error:
        return (), str(error.fields["tags"])


def test_spaces_and_commas_part_words() -> None:
    assert parse("  vision, team:nlp\n视觉，实验-2、a.b_c ") == ("vision", "team:nlp", "视觉", "实验-2", "a.b_c")
    assert parse("") == ()


def test_the_first_way_of_writing_stays() -> None:
    assert parse("NLP vision nlp Nlp") == ("NLP", "vision")
    assert parse("Straße STRASSE") == ("Straße",)
    assert parse("e\u0301t\u00e9 \u00e9t\u00e9") == ("\u00e9t\u00e9",)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("a/b", "has “/” in it"),
        ("<b>", "has “<” in it"),
        ("a\u202eb", "U+202E"),
        ("x\x00y", "U+0000"),
        ("a:b:c", "more than one colon"),
        (":a", "lacks a word"),
        ("a:", "lacks a word"),
        ("x" * 41, "has 41 characters"),
        (" ".join(f"t{n}" for n in range(11)), "these are 11"),
    ],
)
def test_each_fault_is_named(line: str, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(line)
    assert says in str(caught.value.fields["tags"])


def test_every_bad_word_is_named_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        parse("good a/b a:b:c")
    assert "a/b" in str(caught.value.message)
    assert "a:b:c" in str(caught.value.message)
    assert "good" not in str(caught.value.message)


def test_a_field_shows_tags_as_a_line_and_a_typed_line_as_it_is() -> None:
    field = TagsField()
    assert field.clean("b  a") == ("b", "a")
    assert field.prepare_value(["b", "a"]) == "b a"
    assert field.prepare_value("a//b") == "a//b"
    assert field.prepare_value(None) == ""
