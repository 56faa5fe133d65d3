"""What every list shares: the template and the look of a column, on a desk and folded on a phone."""

from typing import Any

import django_tables2
from django.core.paginator import Page
from django.utils.functional import Promise

# On a phone a row is a small card of six columns; these name how many of them a cell takes: all, or three.
FULL, HALF = "c-6", ""


def column(*classes: str, fold: str | Promise = "", numeric: bool = False, width: str = HALF) -> dict[str, Any]:
    """`attrs` of a column: extra classes, its label in a folded row, numbers to the right, width in a folded row.

    Classes that mean something: `pl-roomy` (only on wide screens), `pl-wide` (not on phones), `pl-inline` (the second
    line follows the first when folded), `pl-acts` (row actions), `pl-corner` (a lone menu, in the corner when folded),
    `o-1`, `o-2` (first left, first right when folded).
    """
    names = " ".join(filter(None, [*classes, "pl-num" if numeric else "", width]))
    cell: dict[str, Any] = {"class": names} if names else {}
    return {"td": {**cell, "data-l": fold} if fold else cell, "th": {"class": names} if names else {}}


class Table(django_tables2.Table):
    """Base of every list. Rows with a `data-href` open on a click; set `caption` for screen readers."""

    caption: str | Promise = ""

    class Meta:
        template_name = "components/table.html"


def pager(page: Page[Any]) -> dict[str, Any]:
    """What components/pager.html reads of a table."""
    return {"page": page, "paginator": page.paginator, "prefixed_page_field": "page"}
