"""Statements that pages ask at every visit, composed once per process: Django takes longer to compose than to run one.

    @prepared
    def _ended(actor: Actor, kind: Kind, *, since: datetime) -> QuerySet[Workload]: ...

    rows = _ended(actor, Kind("training"), since=db_now() - LATELY)

The function is called once for each set of an actor's rights, of its other positional arguments and of lengths of what
is passed by name, with stand-ins for who the actor is and for these values. Its SQL is kept, and later calls put their
own values in place of the stand-ins. So no row is kept, and none is seen that the function's own query set would not
have found.

What would make the statement depend on a value cannot pass unseen: a stand-in that does not come out as a parameter is
an error, and so is asking the database, and with it its clock, while the statement is composed. It is composed in an
empty context, outside of any request, and so always in the language of the installation.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import Context
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, wraps
from itertools import count
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from uuid import UUID, uuid4

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import QuerySet
from django_scopes import get_scope, scope, scopes_disabled

from apps.common.actor import Actor
from apps.common.scoping import NOBODY, acting

P = ParamSpec("P")
M = TypeVar("M")

# So many statements of one function are kept, those used last.
MOST = 200
_SOME_ID = uuid4()
# Values that no code writes into a statement by itself.
STAND_INS: dict[type, Callable[[int], Any]] = {
    UUID: lambda number: UUID(int=_SOME_ID.int ^ number),
    int: lambda number: 1_986_303_011 + number,
    datetime: lambda number: datetime(1971, 3, 5, 7, 11, 13, 170_190, tzinfo=UTC) + timedelta(seconds=number),
    date: lambda number: date(1971, 3, 5) + timedelta(days=number),
}

# Where a parameter comes from: the name of a value, and which of its elements if it is a tuple.
Place = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class _Statement:
    """`places`: of each parameter where it comes from, or None where it is always the same."""

    queryset: QuerySet[Any]
    compiler: Any
    sql: str
    parameters: tuple[Any, ...]
    places: tuple[Place | None, ...]

    def rows(self, values: Mapping[str, Any]) -> list[Any]:
        filled = tuple(
            always if place is None else _value(values, place)
            for always, place in zip(self.parameters, self.places, strict=True)
        )
        compiler = copy(self.compiler)
        compiler.connection = connections[DEFAULT_DB_ALIAS]
        compiler.as_sql = lambda *_args, **_kwargs: (self.sql, filled)
        query = copy(self.queryset.query)
        query.get_compiler = lambda *_args, **_kwargs: compiler  # type: ignore[method-assign]
        # Not a copy of the query set: `copy` would fetch its rows, those of the stand-ins.
        asked: Any = type(self.queryset)(self.queryset.model, query=query, using=DEFAULT_DB_ALIAS)
        for name in ("_iterable_class", "_fields", "_known_related_objects"):
            setattr(asked, name, getattr(self.queryset, name))
        return list(cast("Iterable[Any]", asked._iterable_class(asked)))


def _value(values: Mapping[str, Any], place: Place) -> Any:
    name, index = place
    return values[name] if index is None else values[name][index]


def prepared(
    compose: Callable[Concatenate[Actor, P], QuerySet[Any, M]],
) -> Callable[Concatenate[Actor, P], list[M]]:
    """`compose` returns a query set of rows, without prefetching, and depends on nothing but its arguments.

    What is passed by name is a UUID, an int, a datetime, a date or a tuple of these.
    """
    statement = _kept(compose)

    @wraps(compose)
    def ask(actor: Actor, /, *args: P.args, **kwargs: P.kwargs) -> list[M]:
        _require_scope(actor)
        anybody = replace(
            actor,
            label="",
            address=None,
            user_id=None if actor.user_id is None else STAND_INS[int](0),
            organisation_id=None if actor.organisation_id is None else STAND_INS[UUID](0),
        )
        found: _Statement | None = statement((anybody, *args), _shape(kwargs))
        return found.rows({_USER: actor.user_id, _ORGANISATION: actor.organisation_id, **kwargs}) if found else []

    return ask


def prepared_in_scope(compose: Callable[P, QuerySet[Any, M]]) -> Callable[P, list[M]]:
    """As `prepared`, for what takes no actor: in the scope that is active; without one no tenant's rows are found."""
    statement = _kept(compose)

    @wraps(compose)
    def ask(*args: P.args, **kwargs: P.kwargs) -> list[M]:
        active = get_scope()
        within = _Within(disabled=not active.get("_enabled", True), organisation="organisation" in active)
        found: _Statement | None = statement((within, *args), _shape(kwargs))
        return found.rows({_ORGANISATION: active.get("organisation"), **kwargs}) if found else []

    return ask


@dataclass(frozen=True, slots=True)
class _Within:
    """Stands before the arguments where there is no actor: scopes are disabled, or one is active, or neither."""

    disabled: bool
    organisation: bool

    @contextmanager
    def active(self) -> Iterator[None]:
        with ExitStack() as stack:
            if self.disabled:
                stack.enter_context(scopes_disabled())
            elif self.organisation:
                stack.enter_context(scope(organisation=STAND_INS[UUID](0)))
            yield


_USER, _ORGANISATION = "the actor's user", "the actor's organisation"
Shape = tuple[tuple[str, type, int | None], ...]


def _shape(values: Mapping[str, Any]) -> Shape:
    """Of each value its name, its type and, of a tuple, how many elements it has."""
    return tuple(
        (name, type(value[0]) if value else UUID, len(value)) if isinstance(value, tuple) else (name, type(value), None)
        for name, value in sorted(values.items())
    )


def _kept(compose: Callable[..., QuerySet[Any]]) -> Any:
    @lru_cache(MOST)
    def statement(arguments: tuple[Any, ...], shape: Shape) -> _Statement | None:
        with connection.execute_wrapper(_refuse):
            return Context().run(_compose, compose, arguments, shape)

    return statement


def _compose(compose: Callable[..., QuerySet[Any]], arguments: tuple[Any, ...], shape: Shape) -> _Statement | None:
    """None for a query set that is known to be empty."""
    numbers = count(1)
    stand_ins: dict[str, Any] = {}
    known: dict[Any, Place] = {STAND_INS[int](0): (_USER, None), STAND_INS[UUID](0): (_ORGANISATION, None)}
    for name, kind, length in shape:
        made = tuple(STAND_INS[kind](next(numbers)) for _each in range(1 if length is None else length))
        stand_ins[name] = made[0] if length is None else made
        known |= {each: (name, None if length is None else index) for index, each in enumerate(made)}
    first = arguments[0]
    if isinstance(first, Actor):
        with acting(first):
            queryset = compose(*arguments, **stand_ins)
    else:
        with first.active():
            queryset = compose(*arguments[1:], **stand_ins)
    if queryset._prefetch_related_lookups:  # type: ignore[attr-defined]
        raise TypeError(f"{compose.__qualname__} prefetches")
    compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
    try:
        sql, parameters = compiler.as_sql()
    except EmptyResultSet:
        return None
    places = tuple(known.get(each) if type(each) in STAND_INS else None for each in parameters)
    if lost := {each for each in known.values() if each[0] in stand_ins} - set(places):
        raise TypeError(f"{compose.__qualname__}: its statement does not take {sorted(lost)} as parameters")
    return _Statement(queryset, compiler, sql, tuple(parameters), places)


def _refuse(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("a prepared statement is composed without asking the database")


def _require_scope(actor: Actor) -> None:
    """The rows are those of the actor's organisation whatever the scope: they must agree, as for any other query."""
    active = get_scope()
    if actor.platform:
        return
    if not active.get("_enabled", True) or active.get("organisation") != (actor.organisation_id or NOBODY):
        raise RuntimeError("a prepared statement is asked outside of its actor's scope")
