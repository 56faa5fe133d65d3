"""Queries and pinyin: what a name is found by, and how well it answers."""

import re

import pytest

from apps.common.finding import pinyin
from apps.common.finding.query import Query, Rank


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("huadong", "华东研究院"),
        ("huad", "华东研究院"),
        ("hdyjy", "华东研究院"),
        ("yanjiu", "华东研究院"),
        ("hdyanjiu", "华东研究院"),
        ("xian", "西安"),
        ("xian", "先进计算"),
        ("yinhang", "银行"),
        ("chongqing", "重庆"),
        ("zhongliang", "重量"),
        ("lvse", "绿色"),
        ("nvxing", "女性"),
        ("zhouzhe", "周喆"),
        ("zhonghuarenmingongheguo", "中华人民共和国"),
    ],
)
def test_chinese_names_are_found_by_their_readings(typed: str, name: str) -> None:
    assert re.search(pinyin.pattern(typed), name)


@pytest.mark.parametrize(("typed", "name"), [("huabei", "华东研究院"), ("hdb", "华东研究院"), ("dongh", "华东")])
def test_other_readings_do_not(typed: str, name: str) -> None:
    assert not re.search(pinyin.pattern(typed), name)


@pytest.mark.parametrize("typed", ["t-4", "1000", "lab.1", "华", "hd%", "uuu", ""])
def test_what_is_no_pinyin_has_no_pattern(typed: str) -> None:
    assert pinyin.pattern(typed) == ""


def test_the_longest_query_makes_a_short_pattern() -> None:
    """Each place is a class of hundreds of characters, which the database has to compile."""
    assert len(pinyin.pattern("zhy" * 26)) < 12_000


@pytest.mark.parametrize(
    ("typed", "name", "rank"),
    [
        ("lab", "lab", Rank.EXACT),
        ("LAB", "Lab 7", Rank.PREFIX),
        ("seven", "Lab seven", Rank.WORD),
        ("seven", "lab-seven", Rank.WORD),
        ("even", "Lab seven", Rank.PART),
        ("huadong", "华东研究院", Rank.PREFIX),
        ("yanjiu", "华东研究院", Rank.PART),
        ("seven lab", "Lab seven", Rank.PART),
        ("huadong lab", "华东 lab", Rank.PART),
        ("eight", "Lab seven", None),
        ("lab eight", "Lab seven", None),
        ("100%", "100 of 200", None),
    ],
)
def test_names_rank_by_where_the_query_stands(typed: str, name: str, rank: Rank | None) -> None:
    assert Query.of(typed).rank(name) == rank


def test_of_several_names_the_best_counts() -> None:
    assert Query.of("alice").rank("Doctor Alice", "alice") is Rank.EXACT


def test_a_query_is_bounded() -> None:
    assert Query.of("\x00a " * 100).words == ("a", "a", "a", "a")
    assert len(Query.of("x" * 1000).text) == 80
    assert not Query.of("   ")
