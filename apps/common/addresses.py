"""Addresses of pages as lists need them: hundreds for one answer, so each pattern is resolved once per process."""

from functools import cache
from uuid import UUID

from django.urls import reverse

# Stands in a pattern where the row's id goes.
_ANY = UUID(int=(1 << 128) - 1)


@cache
def page(name: str) -> str:
    """The address of a page that is about nothing in particular."""
    return reverse(name)


def page_of(name: str, row_id: UUID, *rest: str) -> str:
    """The address of the page `name` of the row with this id; `rest`: the fixed words after it."""
    before, after = _around(name, rest)
    return f"{before}{row_id}{after}"


@cache
def _around(name: str, rest: tuple[str, ...]) -> tuple[str, str]:
    before, _id, after = reverse(name, args=[_ANY, *rest]).partition(str(_ANY))
    return before, after
