"""One line of a log, without knowledge of those before it. The rules stand in the package's docstring."""

import re
from dataclasses import replace

from apps.tracking.collecting.reading.bars import Bar, bar_in
from apps.tracking.collecting.reading.numbers import COUNT
from apps.tracking.collecting.reading.pairs import STEP_KEYS, metrics_of, object_in, values_in
from apps.tracking.collecting.reading.said import Said, Values

LONGEST = 4096
"""Bytes. A longer line is no line of metrics."""

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f]")
_STAMP = re.compile(
    r"\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ,]{1,2})?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[:,]?\s*"
)
_LEVEL = re.compile(r"[\s|:\[\]-]*(?:\b[\w.]{1,40}\b[\s|:\]-]{1,4}){0,2}?\[?(?:DEBUG|INFO|WARNING|ERROR)\]?\b[\s|:-]*")
_RANK = re.compile(
    r"(?:\[(?:rank|Rank|RANK|default)[ _]?(?P<a>\d+)\]|\[\d+,(?P<b>\d+)\]<std\w+>|[Rr]ank[ _](?P<c>\d+))[:|]?\s*"
)
_NUMBER = r"(?P<{0}>\d{{1,12}}(?:\.\d{{1,6}})?)"
_OF = r"(?:\s*(?:/|of)\s*(?P<{0}>\d{{1,12}}))?"
_AFTER = r"(?![\w-]|\.\w|/)"
_EPOCH = re.compile(
    r"\bepoch(?:\s?\(\w{1,10}\))?\s*[:=#]?\s*[\[(]?\s*" + _NUMBER.format("n") + _OF.format("of") + r"(?![\w-]|\.\w)"
    rf"(?:[\])]?\s*[\[(]\s*(?P<count>{COUNT})\s*/\s*(?P<total>{COUNT}))?",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\b(?P<word>global[_ ]step|step|update)\s*[:=#]?\s*[\[(]?\s*" + _NUMBER.format("n") + _OF.format("of") + _AFTER,
    re.IGNORECASE,
)
_ITERATION = re.compile(
    r"(?:\b(?:iteration|iter|round)\s*[:=#]?|\bit\s*[:=])\s*[\[(]?\s*"
    + _NUMBER.format("n")
    + _OF.format("of")
    + _AFTER,
    re.IGNORECASE,
)
_BATCH = re.compile(
    r"\b(?:batch|minibatch)\s*[:=#]?\s*[\[(]?\s*" + _NUMBER.format("n") + _OF.format("of") + _AFTER, re.IGNORECASE
)
_BOOSTED = re.compile(r"\[(?P<n>\d{1,9})\][\t ]+(?=[\w'’./@-]+)|(?P<m>\d{1,9}):\s+(?=(?:learn|test|total)\b)")
_EPOCH_AND_BATCH = re.compile(r"\[\s?(?P<epoch>\d{1,6}),\s+(?P<count>\d{1,12})\]\s")  # of PyTorch's first tutorial
# What every line that is read has somewhere: most lines are passed over by this alone.
_HINT = re.compile(
    r"epoch|step|iter|update|batch|round|\bit\s?[:=]|\d/\d+\s|\[\d|^\s*\d+:|\{|loss|acc|auc|auroc|auprc|f1|rmse|mae|mse|mape|mrr|"
    r"ndcg|perplexity|ppl|bleu|rouge|wer|cer|iou|dice|psnr|ssim|fid|nll|reward|elbo|bp[cb]|top[15]|map50|kappa|mcc|score|error",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?:\w+ ?[\[(])?(?P<part>train|training|val|valid|validation|test|eval|evaluation)(?:[\])]| set\b| epoch\b|:)",
    re.IGNORECASE,
)
_PART_OF_EPOCH = re.compile(r"epoch\s?\((?P<part>train|val|test)\)", re.IGNORECASE)
_AVERAGE = re.compile(r"(?<=[\d.])\s{0,2}\(\s{0,4}[\d.eE+-]{1,20}%?\)")


def plain(data: bytes) -> str:
    """A line's text as a person sees it: without colours and movements."""
    return _ESCAPES.sub("", data.decode("utf-8", "replace")) if data else ""


def read_line(text: str) -> Said | None:
    """What it says; None for a line that says nothing of progress or metrics, or is one of another rank."""
    if not _HINT.search(text) or (own := _own_text(text)) is None:
        return None
    text = own
    if (bar := bar_in(text)) is not None:
        return _of_bar(bar)
    return _of_object(text) or _of_text(text)


def _own_text(text: str) -> str | None:
    """Without rank, time and level in front; None for a line of another rank."""
    for _turn in range(2):
        if found := _RANK.match(text):
            if int(found["a"] or found["b"] or found["c"] or 0) > 0:
                return None
            text = text[found.end() :]
        if found := _STAMP.match(text):
            text = text[found.end() :]
    if (found := _LEVEL.match(text)) and found.end() < len(text):
        text = text[found.end() :]
    return text


def _of_bar(bar: Bar) -> Said:
    if "{" in bar.told and (said := _of_object(bar.told)) is not None:  # printed behind a bar that was not ended
        return said if said.step is not None or not bar.is_of_run else replace(said, step=bar.count, steps=bar.total)
    epoch, epochs, _count, _total = _epoch_in(bar.title)
    values: Values = ()
    if bar.is_keras or bar.is_of_run:
        values = values_in(bar.told, beside_progress=True)
        values += tuple(pair for pair in values_in(bar.title, beside_progress=True) if pair not in values)
    return Said(
        epoch=epoch,
        epochs=epochs,
        count=bar.count,
        total=bar.total,
        values=values if bar.is_full or not bar.is_keras else (),
        is_bar=True,
        is_mean=bar.is_keras,
        counts=bar.is_of_run,
    )


def _of_object(text: str) -> Said | None:
    numbers = object_in(text)
    if not numbers:
        return None
    values = metrics_of(numbers)
    if not values:
        return None
    step = next((int(numbers[key]) for key in STEP_KEYS if _is_count(numbers.get(key))), None)
    return Said(
        epoch=numbers.get("epoch") if _is_finite(numbers.get("epoch")) else None,
        step=step,
        values=tuple((name, value) for name, value in values if name != "epoch"),
        is_object=True,
    )


def _is_count(value: float | None) -> bool:
    return _is_finite(value) and value is not None and 0 <= value < 1e15


def _is_finite(value: float | None) -> bool:
    return value is not None and value - value == 0


def _of_text(text: str) -> Said | None:
    epoch, epochs, count, total = _epoch_in(text)
    step, steps = _number_in(_STEP, text)
    if step is None:
        step, steps = _number_in(_ITERATION, text)
    if epoch is None and (pair := _EPOCH_AND_BATCH.match(text)):
        epoch, count = float(pair["epoch"]), int(pair["count"])
    if count is None:
        count, total = _number_in(_BATCH, text)
    rest = text
    boosted = _BOOSTED.match(text)
    if step is None and epoch is None and boosted:
        step, rest = int(boosted["n"] or boosted["m"]), text[boosted.end() :]
    if epoch is not None and step is not None and steps is not None:  # [Epoch 1/120][Iter: 10/100]: within the epoch
        step, steps, count, total = None, None, step, steps
    said = Said(epoch=epoch, epochs=epochs, step=step, steps=steps, count=count, total=total)
    values = values_in(_AVERAGE.sub("", rest), beside_progress=said.has_place)
    if boosted and rest is not text and not values:
        return None  # [7] of something else
    if not values and epoch is None:
        return None
    part = _part_of(text)
    return Said(
        epoch=epoch,
        epochs=epochs,
        step=step,
        steps=steps,
        count=count,
        total=total,
        values=tuple((_in_part(name, part), value) for name, value in values),
    )


def _epoch_in(text: str) -> tuple[float | None, int | None, int | None, int | None]:
    found = _EPOCH.search(text)
    if found is None:
        return None, None, None, None
    count, total = (int(found["count"]), int(found["total"])) if found["count"] else (None, None)
    return float(found["n"]), int(found["of"]) if found["of"] else None, count, total


def _number_in(pattern: re.Pattern[str], text: str) -> tuple[int | None, int | None]:
    found = pattern.search(text)
    if found is None or "." in found["n"]:
        return None, None
    return int(found["n"]), int(found["of"]) if found["of"] else None


def _part_of(text: str) -> str:
    """`test` of `Test set: Average loss: 0.05`: what all of the line's values are of."""
    found = _PART_OF_EPOCH.search(text) or _PART.match(text)
    return found["part"].lower() if found else ""


def _in_part(name: str, part: str) -> str:
    if not part or "/" in name or name.lower().startswith((part, "lr", "learning_rate")):
        return name
    return f"{part}/{name}"
