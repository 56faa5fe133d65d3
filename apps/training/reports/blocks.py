"""The parts of a report's text: prose, and fenced blocks that stand for charts and tables. Pure.

```chart
metrics: loss, val_loss
axis: time
log: yes
```

```table
show: parameters
```
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from markdown_it.token import Token

from apps.common import markdown
from apps.tracking.selectors import Axis
from apps.training.comparing.table import Part

Choice = TypeVar("Choice", bound=StrEnum)
MOST_BLOCKS = 40
MOST_METRICS = 8
YES = ("yes", "true", "1", "是")


class Fence(StrEnum):
    CHART = "chart"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Prose:
    html: SafeString


@dataclass(frozen=True, slots=True)
class Chart:
    metrics: tuple[str, ...]
    axis: Axis = Axis.STEP
    log: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    part: Part


@dataclass(frozen=True, slots=True)
class Mistake:
    """`line` counts from 1."""

    line: int
    words: str


Block = Prose | Chart | Table


@dataclass(frozen=True, slots=True)
class Parsed:
    blocks: tuple[Block, ...]
    mistakes: tuple[Mistake, ...]


def parse(text: str) -> Parsed:
    """Whatever the text is; what is wrong with a fenced block is a mistake, and the block is left out."""
    blocks: list[Block] = []
    mistakes: list[Mistake] = []
    for part in _parts(markdown.parse(text)):
        if not _is_block(part[0]):
            blocks.append(Prose(markdown.render(part)))
            continue
        try:
            blocks.append(_block(part[0]))
        except ValueError as error:
            mistakes.append(Mistake((part[0].map or [0])[0] + 1, str(error)))
    if sum(not isinstance(each, Prose) for each in blocks) > MOST_BLOCKS:
        mistakes.append(Mistake(1, _("At most %(most)s charts and tables.") % {"most": MOST_BLOCKS}))
    return Parsed(tuple(blocks), tuple(mistakes))


def _parts(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Each fenced block that stands by itself, and all that lies between two of them."""
    between: list[Token] = []
    for token in tokens:
        if _is_block(token):
            if between:
                yield between
            yield [token]
            between = []
        else:
            between.append(token)
    if between:
        yield between


def _is_block(token: Token) -> bool:
    return token.type == "fence" and token.level == 0 and token.info.strip() in list(Fence)


def _block(token: Token) -> Block:
    """Raises `ValueError` in words."""
    is_chart = token.info.strip() == Fence.CHART
    said = _said(token.content, ("metrics", "axis", "log") if is_chart else ("show",))
    if not is_chart:
        return Table(_choice(Part, said.get("show", Part.METRICS), "show"))
    names = [each.strip() for each in said.get("metrics", "").split(",")]
    metrics = tuple(dict.fromkeys(filter(None, names)))
    if not metrics:
        raise ValueError(_("Name the metrics of the chart, as metrics: loss, val_loss."))
    if len(metrics) > MOST_METRICS:
        raise ValueError(_("At most %(most)s metrics in one chart.") % {"most": MOST_METRICS})
    axis = _choice(Axis, said.get("axis", Axis.STEP), "axis")
    return Chart(metrics, axis, said.get("log", "").lower() in YES)


def _said(content: str, known: Sequence[str]) -> dict[str, str]:
    said = {}
    for line in filter(str.strip, content.splitlines()):
        key, colon, value = line.replace("：", ":", 1).partition(":")
        key = key.strip().lower()
        if not colon or key not in known:
            raise ValueError(
                _("“%(line)s” is not understood. Known here: %(known)s.")
                % {"line": line.strip()[:60], "known": ", ".join(known)}
            )
        said[key] = value.strip()
    return said


def _choice(choices: type[Choice], text: str, key: str) -> Choice:
    try:
        return choices(text.lower())
    except ValueError as error:
        wanted = {"key": key, "known": ", ".join(choices)}
        raise ValueError(_("%(key)s is one of %(known)s.") % wanted) from error
