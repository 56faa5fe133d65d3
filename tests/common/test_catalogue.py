"""The catalogue: words with several meanings have a context, and every right has words in both languages."""

import pytest
from babel.messages import Catalog
from babel.messages.pofile import read_po
from django.utils.translation import override

from apps.common.permissions import Permission
from apps.tenants.permission_words import words_for
from plstack.launch.messages import catalogue_path, collect

# English words that mean several things here and have a different Chinese word for each: a message of such a word
# alone says with `pgettext` or `context` which one it means.
AMBIGUOUS = (
    "Added",  # to a list, or found to be new when two versions are compared
    "Asked",  # when, or how often
    "Asked for",  # a state, or an amount
    "Begins",
    "Changed",  # a state, a time, or a difference
    "Credited",  # paid in, or given back
    "Ends",  # by what proof, or when it expires
    "How",
    "Issued",  # an invoice, or a statement
    "Key",  # of a posting, or of SSH
    "Order",  # of a list, or for prepaid time
    "Share",  # to share, or a proportion
    "Valid",  # now, or from when to when
    "Withdrawn",  # a request by its author, or a package by the platform
)


@pytest.fixture(scope="module")
def chinese() -> Catalog:
    with catalogue_path("zh_Hans").open("rb") as source:
        return read_po(source, locale="zh_Hans")


@pytest.fixture(scope="module")
def used() -> Catalog:
    return collect()


@pytest.mark.parametrize("word", AMBIGUOUS)
def test_a_word_with_several_meanings_says_which_one(used: Catalog, word: str) -> None:
    found = used.get(word)
    places = sorted({path for path, _line in found.locations}) if found else []
    assert places == [], f"“{word}” needs a context in {places}"


@pytest.mark.parametrize(
    ("word", "senses"),
    [
        ("Credited", {"top-up": "入账时间", "lost work": "返还"}),
        ("Issued", {"invoice": "已开具", "statement": "已出账"}),
        ("Key", {"SSH": "公钥", "of a posting": "去重键"}),
        ("Share", {"verb": "共享", "proportion": "占比"}),
        ("Withdrawn", {"request": "已撤销", "offer": "已下架"}),
    ],
)
def test_each_meaning_has_its_own_chinese_word(chinese: Catalog, word: str, senses: dict[str, str]) -> None:
    assert {context: chinese.get(word, context).string for context in senses} == senses


@pytest.mark.parametrize("permission", Permission.every())
def test_every_right_has_words_in_both_languages(chinese: Catalog, permission: Permission) -> None:
    with override("en"):
        english = str(words_for(permission))
    assert english != permission.value, "a code tells nobody what the right allows"
    translated = [message.string for message in chinese if message.id == english]
    assert translated, f"no Chinese for “{english}”"
    assert all(any("一" <= sign <= "鿿" for sign in text) for text in translated)
