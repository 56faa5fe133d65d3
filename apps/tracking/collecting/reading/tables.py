"""Rows under a header of columns, as ultralytics, fastai, skorch and scikit-learn print them."""

import re

from apps.tracking.collecting.reading.bars import bar_in
from apps.tracking.collecting.reading.names import as_name, is_none
from apps.tracking.collecting.reading.numbers import to_float
from apps.tracking.collecting.reading.said import Said

MOST_COLUMNS = 40
_CELLS = re.compile(r"\s{2,}|\t+|\s+\|\s+")
_FIRST = {"epoch": True, "iter": False, "iteration": False, "step": False, "round": False}
_OF = re.compile(r"(\d{1,9})(?:/(\d{1,9}))?\Z")
_RULE = re.compile(r"[\s|+=—-]{3,}\Z")


def header_in(text: str) -> list[str] | None:
    """The columns that a line names, the first of them a word of progress."""
    if not text.lstrip(" |\t").lower().startswith(tuple(_FIRST)):
        return None
    cells = [cell.strip(" |") for cell in _CELLS.split(text.strip(" |\t"))]
    if not 2 <= len(cells) <= MOST_COLUMNS or cells[0].lower() not in _FIRST:
        return None
    return cells if all(cell and len(cell) <= 60 and not cell[0].isdigit() for cell in cells) else None


def is_rule(text: str) -> bool:
    """A line that is drawn between the header and its rows."""
    return bool(_RULE.match(text))


def row_under(header: list[str], text: str) -> Said | None:
    """What a row says; None for a line that is none of this table's rows."""
    bar = bar_in(text)
    if bar is not None:
        text = bar.title
    cells = _CELLS.split(text.strip(" |\t"))
    first = _OF.match(cells[0])
    if first is None or len(cells) != len(header):
        return None
    values = [
        (as_name(name), value)
        for name, cell in zip(header[1:], cells[1:], strict=True)
        if not is_none(name) and (value := to_float(cell)) is not None
    ]
    number, of = int(first[1]), int(first[2]) if first[2] else None
    is_epoch, is_partial = _FIRST[header[0].lower()], bar is not None and not bar.is_full
    return Said(
        epoch=float(number) if is_epoch else None,
        epochs=of if is_epoch else None,
        step=None if is_epoch else number,
        steps=None if is_epoch else of,
        count=bar.count if bar else None,
        total=bar.total if bar else None,
        values=() if is_partial else tuple(values),
        is_bar=bar is not None,
        is_mean=True,
    )
