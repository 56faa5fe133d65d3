"""What a room offers to be found: its own rows as its own selector gives them, and the page of each.

A room has a module `search` with its sources; `apps.console.search.collected` lists them. Who may see what is the
selector's business: nothing here filters rows by anybody.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.functional import Promise

from apps.common.actor import Actor
from apps.common.errors import Denied
from apps.common.finding.query import Query, Rank
from apps.common.permissions import Permission

# How many of one kind are shown, and among how many of the newest the best are chosen.
MOST = 5
CANDIDATES = 100

Row = Mapping[str, Any]
Words = str | Promise


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found. `own`: the actor's; `at`: when it came to be."""

    title: str
    url: str
    rank: Rank
    sub: str = ""
    own: bool = False
    at: datetime | None = None

    @property
    def order(self) -> tuple[int, bool, float, str]:
        return (self.rank, not self.own, -self.at.timestamp() if self.at else 0.0, self.title)


def best(found: Iterable[Hit]) -> list[Hit]:
    """Those to show of one kind: by how well they answer, one's own and the newest first."""
    return sorted(found, key=lambda hit: hit.order)[:MOST]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One kind of things. `portal` and `console`: the right that one needs there; None: not offered there.

    `for_all`: offered to everybody, whose rights `find` asks itself.
    """

    name: str
    label: Words
    icon: str
    find: Callable[[Actor, Query], Iterable[Hit]]
    portal: Permission | None = None
    console: Permission | None = None
    for_all: bool = False

    def offered(self, actor: Actor) -> bool:
        permission = self.console if actor.platform else self.portal
        return self.for_all or (permission is not None and actor.may(permission))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one table that are found by their names.

    `rows`: the room's selector. `fields`: the columns searched, `more`: columns that `hit` reads besides, `newest`: the
    column that says when a row came to be, `owner`: whose it is, `ids`: columns that hold what one may paste whole.
    `exact`: another way to name one row, as by its number. `hit`: title, second line and address of a row.
    """

    rows: Callable[[Actor], QuerySet[Any]]
    hit: Callable[[Actor, Row], tuple[str, str, str]]
    fields: Sequence[str] = ("name",)
    more: Sequence[str] = ()
    newest: str = "created_at"
    owner: str = ""
    ids: Sequence[str] = ("pk",)
    exact: Callable[[Query], Q | None] = field(default=lambda query: None)

    def __call__(self, actor: Actor, query: Query) -> list[Hit]:
        try:
            rows = self.rows(actor).order_by(f"-{self.newest}")
        except Denied:
            return []
        named = self._named(query)
        exact = set(_keys(rows.filter(named))) if named else set()
        # Keys first: an index over names answers that alone. The other columns are read of the few that are left.
        keys = {*exact, *(key for part in self._candidates(actor, rows, query) for key in part)}
        found = rows.filter(pk__in=keys).values(*self._columns()) if keys else ()
        return best(self._as_hit(actor, row, query, row["pk"] in exact) for row in found)

    def _named(self, query: Query) -> Q | None:
        """The rows that an id or a number names, whatever their names are."""
        by_id = Q()
        for column in self.ids if query.uuid else ():
            by_id |= Q(**{column: query.uuid})
        exact = self.exact(query)
        return (by_id | exact) if by_id and exact else (exact or by_id or None)

    def _candidates(self, actor: Actor, rows: QuerySet[Any], query: Query) -> Iterable[list[Any]]:
        """The newest that match. Where they are many, also those that stand before them, however old."""
        matching = rows.filter(query.matches(*self.fields))
        newest = _keys(matching, CANDIDATES)
        yield newest
        if len(newest) == CANDIDATES:
            beginning = _keys(rows.filter(query.begins(*self.fields)), CANDIDATES)
            yield beginning
            if len(beginning) == CANDIDATES:
                yield _keys(rows.filter(query.equals(*self.fields)))
            if self.owner and actor.user_id:
                yield _keys(matching.filter(**{self.owner: actor.user_id}))

    def _columns(self) -> set[str]:
        return {"pk", self.newest, *self.fields, *self.more, *([self.owner] if self.owner else [])}

    def _as_hit(self, actor: Actor, row: Row, query: Query, exact: bool) -> Hit:
        rank = Rank.EXACT if exact else query.rank(*(str(row[name] or "") for name in self.fields))
        title, sub, url = self.hit(actor, row)
        at = row[self.newest]
        return Hit(
            title,
            url,
            Rank.PART if rank is None else rank,
            sub,
            own=bool(self.owner) and row[self.owner] == actor.user_id,
            at=at if isinstance(at, datetime) else None,
        )


def _keys(rows: QuerySet[Any], most: int = MOST) -> list[Any]:
    return list(rows.values_list("pk", flat=True)[:most])
