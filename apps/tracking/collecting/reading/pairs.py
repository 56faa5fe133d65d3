"""Names with their values in a text: `loss: 0.42`, `val loss 0.5`, `Accuracy: 81/90`, `'lr': 1e-4`."""

import json
import re
from collections.abc import Mapping
from typing import Any

from apps.tracking.collecting.reading.names import as_name, is_known, is_none, is_result, words_of
from apps.tracking.collecting.reading.numbers import END, VALUE, is_written_as_float, to_float
from apps.tracking.collecting.reading.said import Values

MOST_VALUES = 200
_WORD = r"[A-Za-z_][\w./@'’-]{0,80}"
_PAIR = re.compile(
    rf"(?<![\w/\\@'’.?&-])(?P<name>{_WORD}(?: {_WORD}){{0,3}})(?P<sep>[ \t]{{0,8}}[:=][ \t]{{0,12}}|[ \t]{{1,8}})"
    rf"(?:(?:np\.float\d\d|tensor|array)\()?(?:(?P<done>\d{{1,12}})/(?P<of>\d{{1,12}})(?![\w/.-])|(?P<value>{VALUE}){END})"
)
_ITEM = re.compile(rf"""['"](?P<name>[\w ./@-]{{1,200}})['"]\s*:\s*['"]?(?P<value>{VALUE})['"]?\s*(?=[,}}])""")
# Words that belong to the name behind them; any other word before a name is one of the sentence.
_LEADING_TEXT = """
train training val valid validation test eval evaluation avg avg. average mean running learning grad gradient lm
policy value critic actor generator discriminator box cls obj mask smoothed final perceptual contrastive
"""
_LEADING = frozenset(_LEADING_TEXT.split())
STEP_KEYS = ("step", "global_step", "iteration", "iter", "num_updates", "round")


def values_in(text: str, *, beside_progress: bool) -> Values:
    """The metrics of a text, as the rules of the package say."""
    found: dict[str, tuple[float, bool]] = {}
    for match in _PAIR.finditer(text):
        pair = _pair(match, beside_progress)
        if pair is not None and len(found) < MOST_VALUES:
            found.setdefault(pair[0], pair[1:])
    if not any(sure for _value, sure in found.values()):
        return ()
    return tuple((name, value) for name, (value, _sure) in found.items())


def _pair(match: re.Match[str], beside_progress: bool) -> tuple[str, float, bool] | None:
    """Name, value, and whether it is one of itself; others need one such beside them."""
    printed = _own_words(match["name"])
    if is_none(printed) or (match["sep"].isspace() and not is_known(printed)):
        return None
    if match["done"] is not None:
        if not is_result(printed) or int(match["of"]) == 0:
            return None
        return as_name(printed), int(match["done"]) / int(match["of"]), True
    if not beside_progress and not is_result(printed):
        return None
    value = to_float(match["value"])
    if value is None:
        return None
    return as_name(printed), value, is_known(printed) or is_written_as_float(match["value"])


def _own_words(printed: str) -> str:
    """Without the words of the sentence before it."""
    *before, last = printed.split(" ")
    kept = [last]
    while before and (before[-1].lower() in _LEADING or before[-1].endswith(("'s", "’s"))):
        kept.insert(0, before.pop())
    return " ".join(kept)


def object_in(text: str) -> dict[str, float] | None:
    """The numbers of the dict or JSON object in a line, those of objects in it as `outer/inner`; None without one."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    inside = text[start : end + 1]
    if inside.count("{") == 1:
        found = {match["name"]: to_float(match["value"]) for match in _ITEM.finditer(inside)}
        return {name: value for name, value in found.items() if value is not None}
    try:
        return flat(json.loads(inside))
    except (ValueError, RecursionError):
        return None


def flat(data: Any, *, prefix: str = "", deep: int = 3) -> dict[str, float]:
    """The numbers of a JSON object by their paths."""
    found: dict[str, float] = {}
    for key, value in data.items() if isinstance(data, Mapping) else ():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and deep:
            found |= flat(value, prefix=f"{name}/", deep=deep - 1)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = _float(value)
    return found


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def metrics_of(numbers: Mapping[str, float]) -> Values:
    """Those of an object's numbers that are metrics; none if it rather says how something is set up."""
    kept = {as_name(name): value for name, value in numbers.items() if not is_none(name) and name not in STEP_KEYS}
    has_place = any(name in numbers for name in (*STEP_KEYS, "epoch"))
    shown = [name for name in kept if not words_of(name) & _SET_UP]
    if not any(is_result(name) for name in shown) and not (has_place and shown):
        return ()
    return tuple(kept.items())[:MOST_VALUES]


_SET_UP_WORDS = """
lr learning_rate dropout decay momentum beta beta1 beta2 gamma epsilon eps alpha
"""
_SET_UP = frozenset(_SET_UP_WORDS.split())
