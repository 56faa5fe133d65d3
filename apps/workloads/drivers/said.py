"""What a driver has to say: a code with parameters. Sentences are made where they are read, in the reader's language.

What is stored or sent carries the English of its code as well: text of before there were codes, and the code of a newer
or older version, are shown as they came.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.workloads.drivers.codes import Code as Code
from apps.workloads.drivers.english import ENGLISH

Param = str | int | float
COLUMN_LIMIT = 400


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, not yet in any language. Its English is `str()`; amounts say their unit in their name."""

    code: Code
    params: Mapping[str, Param] = field(default_factory=dict)

    @classmethod
    def plain(cls, text: object) -> "Said":
        """Foreign text, shown as it came."""
        return cls(Code.TEXT, {"text": str(text)})

    def __str__(self) -> str:
        return ENGLISH[self.code].format(**self.params)

    def as_json(self) -> dict[str, Any]:
        """`text` is for readers that do not know the code."""
        return {"code": self.code.value, "params": dict(self.params), "text": str(self)}

    @classmethod
    def from_json(cls, data: object) -> "Said":
        """What `as_json` wrote, here or elsewhere; plain text for anything else."""
        if not isinstance(data, Mapping):
            return cls.plain(data)
        try:
            found = cls(Code(data["code"]), {str(name): value for name, value in data["params"].items()})
            str(found)  # whether the parameters are the ones that the code has here
        except (KeyError, ValueError, TypeError, AttributeError, IndexError):
            return cls.plain(data.get("text") or data.get("code", ""))
        return found


def english(sentences: Sequence[Said]) -> str:
    """Several of them, one after the other."""
    return " ".join(map(str, sentences))


def dump(sentences: Sequence[Said]) -> str:
    """For a text column of `COLUMN_LIMIT` characters; English, cut to fit, where codes with parameters would not."""
    found = json.dumps([{"code": said.code, "params": dict(said.params)} for said in sentences], ensure_ascii=False)
    return found if len(found) <= COLUMN_LIMIT else english(sentences)[:COLUMN_LIMIT]


def load(column: str) -> tuple[Said, ...]:
    """What `dump` wrote, or text of before there were codes."""
    try:
        found = json.loads(column)
    except ValueError:
        found = None
    if isinstance(found, list):
        return tuple(map(Said.from_json, found))
    return (Said.plain(column),) if column else ()
