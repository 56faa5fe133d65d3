"""A Containerfile as instructions: what each line says, before anybody asks what it means.

Containerfile(5), which is Dockerfile's language. Continuations and comments are read by dockerfile-parse.
"""

import io
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from dockerfile_parse import DockerfileParser

from apps.common.errors import Invalid, Text

FIELD = "containerfile"
MOST_BYTES = 64 * 1024
MOST_STEPS = 100
KNOWN = frozenset(
    {"FROM", "ARG", "ENV", "RUN", "COPY", "ADD", "WORKDIR", "USER", "LABEL", "EXPOSE", "ENTRYPOINT", "CMD", "SHELL",
     "VOLUME", "STOPSIGNAL", "MAINTAINER"}
)  # fmt: skip
_FLAG = re.compile(r"--([a-z-]+)(?:=(\S*))?\s+")
_NAMED = re.compile(r"\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})", re.ASCII)
_HERE = re.compile(r"<<-?[\"']?[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Instruction:
    """`line`: from 1 on. `value`: what follows its name, in one line."""

    line: int
    name: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.name} {self.value}"

    def refused(self, why: Text) -> Invalid:
        """With the line that it stands in."""
        words = _("Line %(line)s: %(why)s") % {"line": self.line, "why": why}
        return Invalid.field(FIELD, words)

    def flags(self) -> tuple[dict[str, str], str]:
        """`--name=value` in front, and the rest."""
        found, rest = {}, self.value
        while match := _FLAG.match(rest):
            found[match[1]] = match[2] or ""
            rest = rest[match.end() :]
        return found, rest

    def exec_form(self, text: str) -> list[str] | None:
        """A JSON list of words; None for anything else."""
        if not text.startswith("["):
            return None
        try:
            found = json.loads(text)
        except ValueError:
            return None
        return found if isinstance(found, list) and all(isinstance(word, str) for word in found) else None

    def words(self, text: str) -> list[str]:
        """As a shell divides them. Raises Invalid."""
        try:
            return shlex.split(text)
        except ValueError as error:
            raise self.refused(_("a quotation mark is not closed.")) from error


def read(text: str) -> list[Instruction]:
    """In order, the first is FROM or ARG. Raises `Invalid` beside `containerfile`, with the line."""
    if not text.strip():
        raise Invalid.field(FIELD, _("The Containerfile is empty."))
    if len(text.encode()) > MOST_BYTES or "\0" in text:
        raise Invalid.field(FIELD, _("A Containerfile is a text of up to 64 KiB."))
    parser = DockerfileParser(fileobj=io.BytesIO(f"{text}\n".replace("\r\n", "\n").encode()))
    found = list(_instructions(parser.structure))
    early = next((each for each in found if each.name != "ARG"), None)
    if early is None or early.name != "FROM":
        raise Invalid.field(FIELD, _("It has to begin with a FROM line."))
    if len(found) > MOST_STEPS:
        raise Invalid.field(FIELD, _("It has more than %(most)s instructions.") % {"most": MOST_STEPS})
    return found


def _instructions(structure: list[dict[str, Any]]) -> Iterator[Instruction]:
    for entry in structure:
        if entry["instruction"] == "COMMENT":
            continue
        each = Instruction(entry["startline"] + 1, entry["instruction"].upper(), entry["value"].strip())
        if each.name not in KNOWN:
            raise each.refused(_("%(name)s is not an instruction that is known here.") % {"name": each.name[:40]})
        if not each.value:
            raise each.refused(_("%(name)s says nothing.") % {"name": each.name})
        if each.name in ("RUN", "COPY", "ADD") and _HERE.search(each.value):
            raise each.refused(_("here-documents (<<) are not read here; put the text into a file and COPY it."))
        yield each


def pairs(instruction: Instruction) -> dict[str, str]:
    """Of ENV and LABEL: `name=value …`, or the old `name value`. Raises `Invalid`."""
    first = instruction.value.split(maxsplit=1)
    if "=" not in first[0]:
        if len(first) == 2:
            return {first[0]: first[1]}
        raise instruction.refused(_("write it as NAME=value."))
    words = instruction.words(instruction.value)
    if not all(re.match(r"[^=\s]+=", word) for word in words):
        raise instruction.refused(_("write it as NAME=value."))
    return dict(word.split("=", 1) for word in words)


def words_of_arg(instruction: Instruction) -> list[tuple[str, str | None]]:
    """Of ARG: names, each with its default; None where it has none. Raises `Invalid`."""
    found = []
    for word in instruction.words(instruction.value):
        name, equals, value = word.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise instruction.refused(_("write it as NAME=value."))
        found.append((name, value if equals else None))
    return found


def expand(text: str, known: Mapping[str, str]) -> str:
    """`$NAME`, `${NAME}`, `${NAME:-else}` and `${NAME:+then}`; names that are not known stay, for the base may."""

    def value(match: re.Match[str]) -> str:
        found = known.get(match[1] or match[2])
        if match[3] == "-":
            return found or match[4]
        if match[3] == "+":
            return match[4] if found else ""
        return match[0] if found is None else found

    return _NAMED.sub(value, text)
