"""Tags: short words by which people sort their work and its cost.

Stored as typed and compared case-insensitively. A word or a pair `key:value`, of letters of any script, digits, - _ and
dots.
"""

import unicodedata
from collections.abc import Iterable

from django.utils.translation import gettext as _

from apps.common.errors import Invalid

MOST = 10
LONGEST = 40
# One letter may fold into three.
LONGEST_KEY = 3 * LONGEST
FIELD = "tags"
# What people put between words; none of them can stand in a tag.
PARTING = str.maketrans(dict.fromkeys(",;，；、", " "))


def parse(text: str) -> tuple[str, ...]:
    """The tags in one line of text, separated by spaces or commas. Raises `Invalid` as `check` does."""
    return check(text.translate(PARTING).split())


def check(words: Iterable[str]) -> tuple[str, ...]:
    """Normalise tags for storage: composed (NFC), without those that differ from an earlier one only in case.

    Raises `Invalid` for the field "tags", with a sentence for each invalid one, or for too many.
    """
    composed = [unicodedata.normalize("NFC", word.strip()) for word in words]
    wrong = [said for word in composed if (said := _problem(word))]
    if wrong:
        raise Invalid.field(FIELD, " ".join(dict.fromkeys(wrong)))
    kept = {fold(word): word for word in reversed(composed)}
    found = tuple(dict.fromkeys(kept[fold(word)] for word in composed))
    if len(found) > MOST:
        counted = {"most": MOST, "count": len(found)}
        raise Invalid.field(FIELD, _("There may be %(most)s tags; these are %(count)s.") % counted)
    return found


def fold(tag: str) -> str:
    """The key by which tags are compared. Folding is idempotent."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", tag).casefold())


def keys(tags: Iterable[str]) -> list[str]:
    return [fold(tag) for tag in tags]


def join(tags: Iterable[str]) -> str:
    """The line that `parse` reads."""
    return " ".join(tags)


def _problem(word: str) -> str:
    """What is wrong with a tag, in words; empty where it may be kept."""
    if not word:
        return _("A tag is not empty.")
    if len(word) > LONGEST:
        shown = {"tag": f"{word[:LONGEST]}…", "most": LONGEST, "count": len(word)}
        return _("“%(tag)s” has %(count)s characters; a tag has at most %(most)s.") % shown
    alien = next((each for each in word if not (each == ":" or _may_stand(each))), None)
    if alien is not None:
        shown = {"tag": _printable(word), "character": _printable(alien)}
        return _("“%(tag)s” has “%(character)s” in it; a tag has letters, digits, - _ . and one colon.") % shown
    if word.count(":") > 1:
        return _("“%(tag)s” has more than one colon; one parts a key from its value.") % {"tag": word}
    if word.startswith(":") or word.endswith(":"):
        return _("“%(tag)s” lacks a word beside its colon, as in team:vision.") % {"tag": word}
    return ""


def _may_stand(character: str) -> bool:
    """Marks are the vowels and accents of many scripts."""
    return character.isalnum() or character in "-_." or unicodedata.category(character)[0] == "M"


def _printable(text: str) -> str:
    """What cannot be seen by its number."""
    return "".join(each if each.isprintable() else f"U+{ord(each):04X}" for each in text)
