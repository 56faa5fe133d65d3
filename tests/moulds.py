"""What a builder's services write, recorded once in a process, and written again in one statement under other names.

Most tests begin with the same rows: an organisation with money, a member, a package. The services that make them take
some fifty statements, half of them questions whose answers are known. The first time they are called as ever, and what
they write is kept as SQL with places for ids, names and moments; the rows are theirs, whatever services come to write.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction

from apps.common.database_role import APP_ROLE

# Numbers that no test has, one thousand for each sequence, within 32 bits.
FIRST, EACH = 1_900_000_000, 1_000
LITERAL = re.compile(r"E?'(?:[^']|'')*'")
MOMENT = re.compile(r"'\d{4}-\d\d-\d\dT[\d:.+]+'::timestamptz")
NUMBER = re.compile(r"19\d{8}")


@dataclass(frozen=True, slots=True)
class Statement:
    """`last`: the number that each sequence had given before it."""

    text: str
    last: Mapping[str, int]

    def with_places(self, place: Callable[[str, Mapping[str, int]], str]) -> str:
        """Moments become that of the statement; numbers what `place` says, inside of words as well."""
        statement = MOMENT.sub("clock_timestamp()", self.text)
        parts, end = [], 0
        for literal in LITERAL.finditer(statement):
            parts.append(NUMBER.sub(lambda found: place(found[0], self.last), statement[end : literal.start()]))
            inner = NUMBER.sub(lambda found: f"' || {place(found[0], self.last)}::text || '", literal[0])
            parts.append(literal[0] if inner == literal[0] else f"({inner})")
            end = literal.end()
        parts.append(NUMBER.sub(lambda found: place(found[0], self.last), statement[end:]))
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Mould:
    """`script` writes the rows and selects the ids of `made`; `texts` are its words for what each caller names anew."""

    script: str
    texts: tuple[str, ...]

    def pour(self, *texts: str) -> tuple[Any, ...]:
        """Write the rows with these words; the ids that the mould was made for."""
        script = self.script
        for old, new in zip(self.texts, texts, strict=True):
            script = script.replace(old, new)
        with connection.cursor() as cursor:
            cursor.cursor.execute(script)
            found: tuple[Any, ...] = cursor.cursor.fetchone()
        return found


Written = AbstractContextManager[None]


@dataclass(frozen=True, slots=True)
class Built:
    """`texts`: words that nothing else has. `ids` are wanted. `known`: ids of rows that may be there before, and SQL
    that finds them."""

    texts: tuple[str, ...]
    ids: tuple[int, ...] = ()
    known: Mapping[int, str] = field(default_factory=dict)


Build = Callable[[Written], Built | None]


def mould(build: Build) -> Mould | None:
    """Of what `build` writes within the context that it is given; nothing of it stays. None where it says so."""
    statements: list[Statement] = []
    with _marked_sequences() as sequences, transaction.atomic():
        built = build(_written(statements))
        if built is None:
            return None
        statements.append(Statement(f"SELECT {', '.join(map(str, built.ids)) or 1}", _last_numbers()))
        transaction.set_rollback(True)
    places = {str(number): f"({found})" for number, found in built.known.items()}

    def place(number: str, last: Mapping[str, int]) -> str:
        at = (int(number) - FIRST) // EACH
        if at >= len(sequences):
            return number  # digits of a key or a hash that look like one
        name = sequences[at]
        return places.get(number) or f"(currval('{name}') - {last[name] - int(number)})"

    return Mould(";\n".join(each.with_places(place) for each in statements), built.texts)


@contextmanager
def _written(statements: list[Statement]) -> Iterator[None]:
    """Note the statements of the block that write, with their values."""

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith(("INSERT", "UPDATE", "DELETE")):
            statements.append(Statement(context["cursor"].cursor.mogrify(sql, params).decode(), _last_numbers()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield


def _last_numbers() -> dict[str, int]:
    with connection.connection.cursor() as cursor:
        cursor.execute("SELECT schemaname || '.' || sequencename, last_value FROM pg_sequences")
        return dict(cursor.fetchall())


@contextmanager
def _marked_sequences() -> Iterator[list[str]]:
    """Let each sequence give numbers by which it is known; afterwards it goes on as before."""
    with _as_owner() as cursor:
        cursor.execute("SELECT schemaname || '.' || sequencename, last_value FROM pg_sequences ORDER BY 1")
        before = cursor.fetchall()
        for index, (name, _last) in enumerate(before):
            cursor.execute("SELECT setval(%s, %s)", [name, FIRST + index * EACH])
    yield [name for name, _last in before]
    with _as_owner() as cursor:
        for name, last in before:
            cursor.execute("SELECT setval(%s, %s, %s)", [name, last or 1, last is not None])


@contextmanager
def _as_owner() -> Iterator[Any]:
    """The application's role may draw from sequences, but not set them."""
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")
        yield cursor
        cursor.execute(f"SET ROLE {APP_ROLE}")
