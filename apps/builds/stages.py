"""The stages of a Containerfile: which of them the image is made of, and which it takes files of.

A stage that begins on another one goes on in that one's files, so that a chain of stages is carried out as one `Part`.
What COPY --from takes files of is a part of its own, carried out before; stages that nothing needs are left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from apps.builds.containerfile import Instruction, expand, words_of_arg
from apps.common.errors import Invalid

TARGET = "target"
MOST_PARTS = 10
"""Each of them is an image that is fetched, and a program that is started."""
_NAME = re.compile(r"[a-z][a-z0-9._-]*", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)


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
class Part:
    """What is carried out in one go: `body` of all stages on the way from `start`, which names the image `base`.

    `given`: what ARG lines before the first FROM say, for those inside that name it. `name`: as people call it.
    `sources`: by line of a COPY --from, the number of the part of which it takes files; those come before this one.
    """

    base: str
    start: Instruction
    body: Sequence[Instruction]
    given: Mapping[str, str]
    name: str
    sources: Mapping[int, int]


def choose(instructions: Sequence[Instruction], target: str = "") -> list[Part]:
    """What is carried out, in order; the last one makes the image.

    `target`: name or number of the wanted stage; empty for the last. Raises `Invalid` with the line, or `target`.
    """
    given: dict[str, str] = {}
    first = next(place for place, each in enumerate(instructions) if each.name == "FROM")
    for each in instructions[:first]:
        given |= {name: expand(value or "", given) for name, value in words_of_arg(each)}
    stages = _stages(instructions[first:], given)
    for stage in stages:
        for each in stage.body:
            _source(stages, stage, each)  # also of those that are left out: what is wrong there is said
    chooser = _Chooser(stages, given)
    chooser.add(_wanted(stages, target))
    return chooser.parts


class _Chooser:
    """Adds parts in such an order that each comes after those whose files it takes."""

    def __init__(self, stages: Sequence[Stage], given: Mapping[str, str]) -> None:
        self.parts: list[Part] = []
        self._stages = stages
        self._given = given
        self._known: dict[int | str, int] = {}

    def add(self, stage: Stage) -> int:
        """Its number among the parts. A stage takes files of earlier ones alone, so that this comes to an end."""
        if stage.number not in self._known:
            chain = list(_chain(stage))
            sources = {each.line: self._source(found, each)
                       for each_stage in chain for each in each_stage.body
                       if (found := _source(self._stages, each_stage, each)) is not None}  # fmt: skip
            body = [each for each_stage in chain for each in each_stage.body]
            name = stage.name or str(stage.number)
            self._append(
                stage.number, stage.start, Part(chain[0].base, chain[0].start, body, self._given, name, sources)
            )
        return self._known[stage.number]

    def _source(self, source: "Stage | str", each: Instruction) -> int:
        if isinstance(source, Stage):
            return self.add(source)
        if source not in self._known:
            self._append(source, each, Part(source, each, (), self._given, source, {}))
        return self._known[source]

    def _append(self, key: int | str, at: Instruction, part: Part) -> None:
        if len(self.parts) == MOST_PARTS:
            words = _("an image is made of %(most)s stages and other images at most.")
            raise at.refused(words % {"most": MOST_PARTS})
        self._known[key] = len(self.parts)
        self.parts.append(part)


def _chain(stage: Stage) -> Iterator[Stage]:
    """The stage and those that it begins on, the lowest first."""
    if stage.parent is not None:
        yield from _chain(stage.parent)
    yield stage


def _source(stages: Sequence[Stage], stage: Stage, each: Instruction) -> Stage | str | None:
    """Of which stage or image COPY takes files; None where it does not say --from. Raises `Invalid` with the line."""
    flags, _rest = each.flags()
    if each.name != "COPY" or "from" not in flags:
        return None
    wanted = flags["from"].lower()
    if not wanted or "$" in wanted:
        raise each.refused(_("--from names a stage or an image, without variables."))
    found = next((one for one in stages if wanted in (one.name, str(one.number))), None)
    if found is None and _NUMBER.fullmatch(wanted):
        raise each.refused(_("there is no stage %(name)s.") % {"name": wanted[:60]})
    if found is None:
        return flags["from"]
    if found.number == stage.number:
        raise each.refused(_("a stage cannot take files of itself."))
    if found.number > stage.number:
        words = _("the stage %(name)s comes only after this one, so that nothing of it can be taken here.")
        raise each.refused(words % {"name": wanted[:60]})
    return found


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
