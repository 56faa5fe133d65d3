"""How people write needs and rows: in the form's cells, and in files."""

import re
import shlex
from collections.abc import Iterable

from apps.pipelines.graph.steps import Bound, Comparison, Need, When

_BOUND = re.compile(r"(.+?)\s*(>=|<=|==|!=|>|<)\s*(\S+)")
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./${}-]+")
_WORDS = {"failed": When.FAILED, "ended": When.ENDED, "succeeded": When.SUCCEEDED}

Row = tuple[str, str]


class Unreadable(ValueError):
    """`said`: the part that cannot be read."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


def read_needs(text: str) -> tuple[Need, ...]:
    """`prepare, train: failed, evaluate: accuracy >= 0.9`; separated by commas, Chinese ones too, or lines."""
    parts = re.split(r"[,，\n]", text)
    return tuple(read_need(part.strip()) for part in parts if part.strip())


def read_need(text: str) -> Need:
    name, _colon, condition = text.replace("：", ":").partition(":")
    return need_on(name.strip(), condition.strip())


def need_on(step: str, condition: str) -> Need:
    """Raises `Unreadable`."""
    if not condition:
        return Need(step=step)
    if condition in _WORDS:
        return Need(step=step, when=_WORDS[condition])
    found = _BOUND.fullmatch(condition)
    if found is None:
        raise Unreadable(condition)
    metric, comparison, value = found.groups()
    try:
        bound = Bound(metric=metric.strip(), comparison=Comparison(comparison), value=float(value))
    except ValueError as error:
        raise Unreadable(condition) from error
    return Need(step=step, when=When.METRIC, bound=bound)


def condition_text(need: Need) -> str:
    """As `need_on` reads it; empty where the step has to succeed."""
    if need.bound is not None:
        # All digits, so that what is written is what was read.
        return f"{need.bound.metric} {need.bound.comparison} {need.bound.value!r}"
    return "" if need.when is When.SUCCEEDED else need.when.value


def write_needs(needs: Iterable[Need]) -> str:
    told = [(need.step, condition_text(need)) for need in needs]
    return ", ".join(f"{step}: {condition}" if condition else step for step, condition in told)


def read_rows(text: str) -> tuple[Row, ...]:
    """Words as on a command line: `--epochs=20 --fast model.lr=0.1`. Raises `Unreadable`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Unreadable(text) from error
    return tuple(_row(word) for word in words)


def _row(word: str) -> Row:
    """A name without a dash keeps its `=`: its program wants one word, as Hydra's overrides are."""
    name, equals, value = word.partition("=")
    return (name if not equals or name.startswith("-") else f"{name}=", value)


def read_variables(text: str) -> tuple[Row, ...]:
    """`LR=0.1 SEED=${seed}`. Raises `Unreadable`."""
    rows = read_rows(text)
    for name, _value in rows:
        if not name.endswith("="):
            raise Unreadable(name)
    return tuple((name.removesuffix("="), value) for name, value in rows)


def write_rows(rows: Iterable[Row]) -> str:
    return " ".join(_quoted(_word(name, value)) for name, value in rows)


def write_variables(rows: Iterable[Row]) -> str:
    return " ".join(_quoted(f"{name}={value}") for name, value in rows)


def _quoted(word: str) -> str:
    """As a shell needs it, but for `${name}`: no shell reads it here, and people should."""
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)


def _word(name: str, value: str) -> str:
    return f"{name}{value}" if name.endswith("=") else f"{name}={value}" if value else name
