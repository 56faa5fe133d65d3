"""MLflow's filter strings: comparisons joined by `and`, such as `metrics.loss < 0.3 and params.lr = "0.1"`.

Anything else is refused with the place where it stands; a filter that was half understood would show wrong runs.
"""

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.tracking.models import Parameter, Series, TrackedRun, TrackingTag

MOST_CONDITIONS = 50
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    | (?P<text>'[^']*'|"[^"]*")
    | (?P<quoted>`[^`]+`)
    | (?P<sign><=|>=|!=|<>|==|=|<|>|\(|\)|,)
    | (?P<word>[^\W\d][\w/\-]*)
    | (?P<dot>\.)
    )""",
    re.VERBOSE,
)


class Kind(StrEnum):
    METRIC = "metric"
    PARAMETER = "parameter"
    TAG = "tag"
    ATTRIBUTE = "attribute"


KINDS = {
    **dict.fromkeys(("metric", "metrics"), Kind.METRIC),
    **dict.fromkeys(("param", "params", "parameter", "parameters"), Kind.PARAMETER),
    **dict.fromkeys(("tag", "tags"), Kind.TAG),
    **dict.fromkeys(("attribute", "attributes", "attr", "run"), Kind.ATTRIBUTE),
}
ATTRIBUTES = {"run_id": "pk", "run_name": "name", "status": "status", "start_time": "started_at"}
LOOKUPS = {"=": "exact", "==": "exact", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
NEGATIONS = ("!=", "<>")
LIKE, ILIKE, IN, AND = "LIKE", "ILIKE", "IN", "AND"


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Condition:
    """`value`: a number, a text, or a tuple of texts."""

    kind: Kind
    name: str
    sign: str
    value: Any


def parse(text: str) -> list[Condition]:
    """Raises `Invalid` with the place for what is not understood."""
    tokens = _tokens(text)
    conditions: list[Condition] = []
    while tokens:
        if conditions:
            _word(tokens, AND, text)
        conditions.append(_condition(tokens, text))
        if len(conditions) > MOST_CONDITIONS:
            raise _wrong(_("At most %(most)s comparisons at once.") % {"most": MOST_CONDITIONS})
    return conditions


def narrowed(rows: "QuerySet[TrackedRun]", conditions: list[Condition]) -> "QuerySet[TrackedRun]":
    for each in conditions:
        rows = _by_attribute(rows, each) if each.kind is Kind.ATTRIBUTE else rows.filter(_exists(each))
    return rows


def ordered(rows: "QuerySet[TrackedRun]", clauses: list[str]) -> "QuerySet[TrackedRun]":
    """By clauses such as `metrics.loss ASC`; runs without the value come last, and the newest first among equals."""
    order: list[Any] = []
    for number, clause in enumerate(clauses):
        tokens = _tokens(clause)
        kind, name = _key(tokens, clause)
        word = tokens.pop(0).text.upper() if tokens else "ASC"
        if tokens or word not in ("ASC", "DESC"):
            raise _wrong(_("“%(clause)s” is no order: name a value, then ASC or DESC.") % {"clause": clause[:80]})
        column = F(f"order_{number}")
        rows = rows.annotate(**{f"order_{number}": _value(kind, name)})
        order.append(column.asc(nulls_last=True) if word == "ASC" else column.desc(nulls_last=True))
    return rows.order_by(*order, "-started_at", "pk")


def _value(kind: Kind, name: str) -> Any:
    if kind is Kind.ATTRIBUTE:
        return F(_attribute(name))
    model, column = _table(kind)
    return Subquery(model.objects.filter(run=OuterRef("pk"), name=name).values(column)[:1])


def _table(kind: Kind) -> tuple[Any, str]:
    if kind is Kind.METRIC:
        return Series, "last_value"
    return (Parameter if kind is Kind.PARAMETER else TrackingTag), "value"


def _exists(each: Condition) -> Any:
    model, column = _table(each.kind)
    rows = model.objects.filter(_matches(column, each), run=OuterRef("pk"), name=each.name)
    # NaN is less than nothing and greater than nothing; Postgres sorts it behind all numbers.
    return Exists(rows.exclude(last_value=math.nan) if each.kind is Kind.METRIC else rows)


def _by_attribute(rows: "QuerySet[TrackedRun]", each: Condition) -> "QuerySet[TrackedRun]":
    if each.name not in ("run_id", "run_name"):
        raise _wrong(_("Runs cannot be filtered by “%(name)s” here.") % {"name": each.name[:80]})
    return rows.filter(_matches(_attribute(each.name), each))


def _matches(column: str, each: Condition) -> Q:
    if each.sign in NEGATIONS:
        return ~Q(**{column: each.value})
    if each.sign == IN:
        return Q(**{f"{column}__in": each.value})
    if each.sign in (LIKE, ILIKE):
        return Q(**{f"{column}__{'iregex' if each.sign == ILIKE else 'regex'}": _like(each.value)})
    return Q(**{f"{column}__{LOOKUPS[each.sign]}": each.value})


def _like(pattern: str) -> str:
    """SQL's pattern as a regular expression: "%" is any text, "_" any one sign."""
    signs = {"%": ".*", "_": "."}
    return "^" + "".join(signs.get(sign, re.escape(sign)) for sign in pattern) + "$"


def _attribute(name: str) -> str:
    if name not in ATTRIBUTES:
        raise _wrong(_("There is no attribute “%(name)s”.") % {"name": name[:80]})
    return ATTRIBUTES[name]


def _condition(tokens: list[Token], text: str) -> Condition:
    kind, name = _key(tokens, text)
    sign = _next(tokens, text)
    operator = sign.text.upper()
    if kind is Kind.METRIC:
        if operator not in (*LOOKUPS, *NEGATIONS):
            raise _unexpected(sign)
        value = _next(tokens, text)
        if value.kind != "number":
            raise _unexpected(value)
        return Condition(kind, name, operator, float(value.text))
    if operator == IN:
        return Condition(kind, name, IN, _list(tokens, text))
    if operator not in ("=", "==", *NEGATIONS, LIKE, ILIKE):
        raise _unexpected(sign)
    return Condition(kind, name, operator, _text(tokens, text))


def _list(tokens: list[Token], text: str) -> tuple[str, ...]:
    _sign(tokens, "(", text)
    values = [_text(tokens, text)]
    while (token := _next(tokens, text)).text == ",":
        values.append(_text(tokens, text))
    if token.text != ")":
        raise _unexpected(token)
    return tuple(values)


def _key(tokens: list[Token], text: str) -> tuple[Kind, str]:
    first = _next(tokens, text)
    if tokens and tokens[0].kind == "dot":
        tokens.pop(0)
        kind = KINDS.get(first.text.lower())
        if kind is None or first.kind != "word":
            raise _unexpected(first)
        return kind, _name(tokens, text)
    if first.kind != "word" or first.text not in ATTRIBUTES:
        raise _unexpected(first)
    return Kind.ATTRIBUTE, first.text


def _name(tokens: list[Token], text: str) -> str:
    """`a.b` is one name; others with signs stand in back quotes or quotes."""
    token = _next(tokens, text)
    if token.kind in ("quoted", "text"):
        return token.text[1:-1]
    if token.kind != "word":
        raise _unexpected(token)
    name = token.text
    while tokens and tokens[0].kind == "dot":
        tokens.pop(0)
        name += "." + _next(tokens, text).text
    return name


def _text(tokens: list[Token], text: str) -> str:
    token = _next(tokens, text)
    if token.kind != "text":
        raise _unexpected(token)
    return token.text[1:-1]


def _word(tokens: list[Token], word: str, text: str) -> None:
    token = _next(tokens, text)
    if token.kind != "word" or token.text.upper() != word:
        raise _unexpected(token)


def _sign(tokens: list[Token], sign: str, text: str) -> None:
    token = _next(tokens, text)
    if token.text != sign:
        raise _unexpected(token)


def _next(tokens: list[Token], text: str) -> Token:
    if not tokens:
        raise _wrong(_("“%(text)s” ends too early.") % {"text": text[:80]})
    return tokens.pop(0)


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unexpected(Token("", text[at : at + 20].strip(), at))
        kind = str(match.lastgroup)
        found.append(Token(kind, match[kind], match.start(kind)))
        at = match.end()
    return found


def _unexpected(token: Token) -> Invalid:
    words = _("“%(text)s” at character %(at)s is not understood here.") % {"text": token.text[:40], "at": token.at + 1}
    hint = _("Compare metrics, params and tags, joined by “and”: metrics.loss < 0.3 and params.lr = '0.1'.")
    return Invalid.field("filter", words, hint=hint)


def _wrong(words: str) -> Invalid:
    return Invalid.field("filter", words)
