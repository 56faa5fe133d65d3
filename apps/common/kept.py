"""What lists say of a row and need not work out again: kept by all that it was made of.

Kept in the memory of the process. Nothing is ever said to be stale: who changes a row changes what it is found by.
"""

import pickle
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from hashlib import blake2b
from typing import Any, TypeVar

from django.db.models import Model
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import get_language
from rest_framework import serializers

MOST = 2000  # rows of some kilobytes each
_kept: dict[bytes, Any] = {}
Made = TypeVar("Made")


def kept(record: Model, beside: tuple[Any, ...], make: Callable[[], Made], *, without: Collection[str] = ()) -> Made:
    """What `make` makes of a row, once for each state of `record` and of `beside`; not to be changed by who gets it.

    `make` reads of the record what has been read from the database (its fields, annotations and related rows, but for
    those named by `without`), and else `beside`, the language, the time zone and the day. Asking the database, or the
    clock for more than the day, is not for it. `beside` says first what is made, as no other caller does.
    """
    key = _key(record, beside, without)
    known: Made | None = _kept.get(key)
    if known is None:
        if len(_kept) >= MOST:
            _kept.clear()
        known = _kept[key] = make()
    return known


class KeptRows(serializers.ListSerializer[Any]):
    """`list_serializer_class` of a serializer that says of each row what is in the row, and nothing else."""

    def to_representation(self, data: Any) -> list[Any]:
        child: Any = self.child
        return [kept(row, (named(child),), partial(child.to_representation, row)) for row in data]


def named(what: object) -> str:
    """Its class, as no other is called: for `beside`."""
    return f"{type(what).__module__}.{type(what).__qualname__}"


def forget() -> None:
    """For tests: what comes next is made anew."""
    _kept.clear()


def _key(record: Model, beside: tuple[Any, ...], without: Collection[str]) -> bytes:
    reader = (get_language(), timezone.get_current_timezone_name(), timezone.localdate())
    read = (*reader, beside, tuple(_read(record, without, set())))
    return blake2b(pickle.dumps(read, pickle.HIGHEST_PROTOCOL), digest_size=20).digest()


def _read(record: Model, without: Collection[str], met: set[int]) -> Iterator[Any]:
    """Every value of the row that is in memory, and of the rows that were read with it; of each row once."""
    met.add(id(record))
    kind = type(record)
    left_out = {"_state", *without, *_computed(kind)}
    yield kind._meta.label
    yield [(name, value) for name, value in vars(record).items() if name not in left_out]
    for name, related in record._state.fields_cache.items():
        if isinstance(related, Model) and id(related) not in met:
            yield name
            yield from _read(related, (), met)


@cache
def _computed(kind: type[Model]) -> frozenset[str]:
    """Names of what is worked out from the fields at its first use, and then kept beside them."""
    return frozenset(
        name for each in kind.__mro__ for name, value in vars(each).items() if isinstance(value, cached_property)
    )
