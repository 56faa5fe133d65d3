"""The stages of a Containerfile: which of them the image is made of.

A stage that begins on another one goes on in that one's files, so that a chain of stages is carried out as one; stages
that the wanted one does not begin on are left out, as other builders leave them out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from apps.builds.containerfile import Instruction, expand, words_of_arg
from apps.common.errors import Invalid

TARGET = "target"
_NAME = re.compile(r"[a-z][a-z0-9._-]*", re.ASCII)


@dataclass(slots=True)
class Stage:
    """`base`: the image, or the name of `parent`. `name` is empty for one that only its number names, from 0 on."""

    number: int
    start: Instruction
    base: str
    name: str
    parent: "Stage | None" = None
    body: list[Instruction] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is carried out: `body` of all stages on the way from `start`, which names the image `base`.

    `given`: what ARG lines before the first FROM say, for those inside that name it.
    """

    base: str
    start: Instruction
    body: Sequence[Instruction]
    given: Mapping[str, str]


def choose(instructions: Sequence[Instruction], target: str = "") -> Chosen:
    """`target`: name or number of the wanted stage; empty for the last. Raises `Invalid` with the line, or `target`."""
    given: dict[str, str] = {}
    first = next(place for place, each in enumerate(instructions) if each.name == "FROM")
    for each in instructions[:first]:
        given |= {name: expand(value or "", given) for name, value in words_of_arg(each)}
    stages = _stages(instructions[first:], given)
    chain = [_wanted(stages, target)]
    while (parent := chain[-1].parent) is not None:
        chain.append(parent)
    body = [each for stage in reversed(chain) for each in stage.body]
    return Chosen(chain[-1].base, chain[-1].start, body, given)


def _stages(instructions: Sequence[Instruction], given: Mapping[str, str]) -> list[Stage]:
    stages: list[Stage] = []
    later = [_operands(each, given)[1] for each in instructions if each.name == "FROM"]
    for each in instructions:
        if each.name != "FROM":
            stages[-1].body.append(each)
            continue
        base, name = _operands(each, given)
        known = {stage.name: stage for stage in stages if stage.name}
        if name in known:
            raise each.refused(_("there is a stage called %(name)s already.") % {"name": name})
        if base.lower() not in known and base.lower() in later[len(stages) + 1 :]:
            words = _("the stage %(name)s comes only after this line, so that nothing can begin on it here.")
            raise each.refused(words % {"name": base})
        stages.append(Stage(len(stages), each, base, name, known.get(base.lower())))
    return stages


def _operands(each: Instruction, given: Mapping[str, str]) -> tuple[str, str]:
    """What it begins on, and its own name, which has small letters however it is written."""
    flags, rest = each.flags()
    words = expand(rest, given).split()
    if len(words) not in (1, 3) or (len(words) == 3 and words[1].lower() != "as") or flags.keys() - {"platform"}:
        raise each.refused(_("name one image after FROM."))
    name = words[2].lower() if len(words) == 3 else ""
    if name and not _NAME.fullmatch(name):
        raise each.refused(_("a stage's name begins with a letter and has letters, digits, dots, - and _ alone."))
    return words[0], name


def _wanted(stages: Sequence[Stage], target: str) -> Stage:
    if not target:
        return stages[-1]
    for stage in stages:
        if target.lower() == stage.name or target == str(stage.number):
            return stage
    raise Invalid.field(TARGET, _("There is no stage “%(name)s” in the Containerfile.") % {"name": target[:60]})
