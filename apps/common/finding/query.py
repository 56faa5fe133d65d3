"""What somebody typed to find something, and how well a name answers it."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from uuid import UUID

from django.db.models import Q

from apps.common.finding import pinyin

LONGEST = 80
MOST_WORDS = 4


class Rank(IntEnum):
    """How well a name answers, best first."""

    EXACT = 0
    PREFIX = 1
    WORD = 2
    PART = 3


@dataclass(frozen=True)
class Query:
    """`words` in lower case; each must be found in a name. Chinese names are also found by pinyin."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, typed: str) -> "Query":
        return cls(tuple(typed.replace("\x00", "").strip().lower()[:LONGEST].split()[:MOST_WORDS]))

    def __bool__(self) -> bool:
        return bool(self.words)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @cached_property
    def uuid(self) -> UUID | None:
        """The id that was pasted, if it is one."""
        try:
            return UUID(self.text)
        except ValueError:
            return None

    @cached_property
    def sounds(self) -> dict[str, str]:
        """The pattern of names that read so, by word; empty for words that are no pinyin."""
        return {word: pinyin.pattern(word) for word in self.words}

    def matches(self, *fields: str) -> Q:
        """Rows in which each word is found in one of the fields."""
        every = Q()
        for word in self.words:
            one = Q()
            for field in fields:
                one |= Q(**{f"{field}__icontains": word})
                if self.sounds[word]:
                    one |= Q(**{f"{field}__regex": self.sounds[word]})
            every &= one
        return every

    def equals(self, *fields: str) -> Q:
        return _any({f"{field}__iexact": self.text for field in fields})

    def begins(self, *fields: str) -> Q:
        return _any({f"{field}__istartswith": self.text for field in fields})

    def rank(self, *names: str) -> Rank | None:
        """The best rank of several names of one thing; None where a word is in none of them."""
        if not all(any(self._word_rank(word, name) is not None for name in names) for word in self.words):
            return None
        found = [rank for name in names if (rank := self._rank(name)) is not None]
        return min(found, default=Rank.PART)

    def _rank(self, name: str) -> Rank | None:
        if len(self.words) == 1:
            return self._word_rank(self.words[0], name)
        return _text_rank(self.text, name.lower())

    def _word_rank(self, word: str, name: str) -> Rank | None:
        written = _text_rank(word, name.lower())
        if written is not None or not self.sounds[word]:
            return written
        found = re.search(self.sounds[word], name)
        if found is None:
            return None
        return Rank.PART if found.start() else Rank.PREFIX


def _any(lookups: dict[str, str]) -> Q:
    found = Q()
    for lookup, value in lookups.items():
        found |= Q(**{lookup: value})
    return found


def _text_rank(text: str, name: str) -> Rank | None:
    place = name.find(text)
    if place < 0:
        return None
    if place == 0:
        return Rank.EXACT if len(name) == len(text) else Rank.PREFIX
    starts = re.search(rf"(?<![^\W_]){re.escape(text)}", name)
    return Rank.WORD if starts else Rank.PART
