"""Parse what a person or a program enters into changes: one reader per kind, with an error text per field."""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _

from apps.common.errors import Denied, Invalid
from apps.common.money import FEN_PER_YUAN
from apps.common.permissions import Permission as P
from apps.whatif.changes import Change
from apps.whatif.choices import ChangeKind
from apps.whatif.replaying.limits import MOST_CHANGES
from apps.whatif.scenario_scope import ScenarioScope
from scheduler.mig import profile_named, profiles_of
from scheduler.types import WHOLE_MILLI, Device, MigProfile, Mode

Raw = Mapping[str, object]
MOST_CARDS, MOST_NODES, MOST_MINUTES = 100_000, 200, 7 * 24 * 60
MOST_YUAN = 1_000_000
_RANGE = re.compile(r"(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?")
_PIECE = re.compile(r"([0-9a-z.+]{2,24})\s*(?:[x×*:]\s*(\d{1,2}))?", re.IGNORECASE)


def read_all(rows: Iterable[Raw], ground: ScenarioScope) -> tuple[Change, ...]:
    """All changes of a scenario. Raises `Invalid` with the field at fault and the number of its row, from 0."""
    changes: list[Change] = []
    for index, raw in enumerate(rows):
        try:
            changes.append(read(raw, ground))
            _once(changes)
        except Invalid as error:
            error.fields = {f"changes.{index}.{name}": words for name, words in error.fields.items()}
            raise
    if not changes:
        raise Invalid.field("changes", _("Name at least one difference on side B."))
    if len(changes) > MOST_CHANGES:
        raise Invalid.field("changes", _("At most %(most)s changes.") % {"most": MOST_CHANGES})
    return tuple(changes)


def read(raw: Raw, ground: ScenarioScope) -> Change:
    """One change. Raises `Invalid` with the field at fault, `Denied` for prices that the actor may not see."""
    try:
        kind = ChangeKind(_text(raw, "kind"))
    except ValueError as error:
        raise Invalid.field("kind", _("Choose what changes.")) from error
    return _READERS[kind](raw, ground)


def _once(changes: list[Change]) -> None:
    newest = changes[-1]
    if newest.kind in (ChangeKind.MODE, ChangeKind.NODE_ADD):
        return
    key = newest.kind, newest.target, newest.model
    if any((old.kind, old.target, old.model) == key for old in changes[:-1]):
        raise Invalid.field(_FIELD[newest.kind], _("This is changed by another line already."))


_FIELD = {
    ChangeKind.GUARANTEE: "organisation",
    ChangeKind.WEIGHT: "organisation",
    ChangeKind.PRIORITY: "user",
    ChangeKind.PRICE: "package",
    ChangeKind.MIN_RUNTIME: "minutes",
    ChangeKind.NODE_REMOVE: "node",
}


def _text(raw: Raw, name: str) -> str:
    value = raw.get(name)
    return "" if value is None else str(value).strip()


def _number(raw: Raw, name: str, least: int, most: int) -> Decimal:
    problem = _("Give a number from %(least)s to %(most)s.") % {"least": least, "most": f"{most:,}"}
    try:
        value = Decimal(_text(raw, name).replace(",", ""))
    except InvalidOperation as error:
        raise Invalid.field(name, problem) from error
    if not value.is_finite() or not least <= value <= most:
        raise Invalid.field(name, problem)
    return value


def _whole(raw: Raw, name: str, least: int, most: int) -> int:
    value = _number(raw, name, least, most)
    if value != value.to_integral_value():
        raise Invalid.field(name, _("Give a whole number."))
    return int(value)


def _guarantee(raw: Raw, ground: ScenarioScope) -> Change:
    key, name = ground.organisation(_text(raw, "organisation"))
    model = _text(raw, "gpu_model")
    if model and model not in ground.models:
        raise Invalid.field("gpu_model", _("There is no card of this model."))
    milli = _number(raw, "cards", 0, MOST_CARDS) * WHOLE_MILLI
    if milli != milli.to_integral_value():
        raise Invalid.field("cards", _("At most three decimals."))
    return Change(ChangeKind.GUARANTEE, key, name, model, int(milli), ground.guaranteed(key, model))


def _weight(raw: Raw, ground: ScenarioScope) -> Change:
    key, name = ground.organisation(_text(raw, "organisation"))
    return Change(ChangeKind.WEIGHT, key, name, value=_whole(raw, "weight", 1, 100), was=ground.weight(key))


def _priority(raw: Raw, ground: ScenarioScope) -> Change:
    key, name = ground.user(_text(raw, "user"))
    return Change(ChangeKind.PRIORITY, key, name, value=_whole(raw, "priority", 1, 5))


def _price(raw: Raw, ground: ScenarioScope) -> Change:
    if not ground.actor.may(P.PLATFORM_PRICES_VIEW):
        raise Denied(P.PLATFORM_PRICES_VIEW)
    package, name = ground.package(_text(raw, "package"))
    yuan = _number(raw, "price", 0, MOST_YUAN)
    if yuan != yuan.quantize(Decimal("0.0001")):
        raise Invalid.field("price", _("At most four decimals."))
    was = package.price.rate_fen_per_hour if package.price is not None else None
    return Change(ChangeKind.PRICE, str(package.pk), name, rate=yuan * FEN_PER_YUAN, rate_was=was)


def _min_runtime(raw: Raw, ground: ScenarioScope) -> Change:
    seconds = int(_number(raw, "minutes", 0, MOST_MINUTES) * 60)
    return Change(ChangeKind.MIN_RUNTIME, value=seconds, was=ground.least_run_s)


def _mode(raw: Raw, ground: ScenarioScope) -> Change:
    node, name = ground.node(_text(raw, "node"))
    try:
        mode = Mode(_text(raw, "mode"))
    except ValueError as error:
        raise Invalid.field("mode", _("Choose a mode.")) from error
    indexes = _indexes(_text(raw, "which"))
    here = {card.index: card for card in node.devices}
    if not here:
        raise Invalid.field("node", _("This node has no cards."))
    if not set(indexes) <= set(here):
        raise Invalid.field("which", _("This node has cards %(first)s to %(last)s.") % _ends(here))
    cards = [here[index] for index in indexes or here]
    layout = _layout(_text(raw, "layout"), cards) if mode is Mode.MIG else ()
    return Change(ChangeKind.MODE, node.id, name, cards=indexes, mode=mode.value, layout=layout)


def _ends(here: Mapping[int, Device]) -> dict[str, int]:
    return {"first": min(here), "last": max(here)}


def _indexes(text: str) -> tuple[int, ...]:
    """`4-7, 9` as indexes in order; none for the whole node."""
    found: set[int] = set()
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise Invalid.field("which", _("Name cards by their numbers, as in 0-3, 6; leave it empty for all."))
        first = int(match[1])
        found.update(range(first, int(match[2] or first) + 1))
    return tuple(sorted(found))


def _layout(text: str, cards: list[Device]) -> tuple[tuple[str, int], ...]:
    """`3g.40gb, 1g.10gb×4` as (profile, count), checked to fit on every one of the cards."""
    if not all(profiles_of(card) for card in cards):
        raise Invalid.field("mode", _("Not all of these cards can be cut by MIG."))
    pieces: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = _PIECE.fullmatch(part)
        if match is None:
            raise Invalid.field("layout", _("Name partitions and how many of each, as in 3g.40gb, 1g.10gb×4."))
        pieces[match[1].lower()] = pieces.get(match[1].lower(), 0) + int(match[2] or 1)
    for card in cards:
        _check_layout(card, pieces)
    return tuple(pieces.items())


def _check_layout(card: Device, pieces: Mapping[str, int]) -> None:
    wanted: list[MigProfile] = []
    for name, count in pieces.items():
        profile = profile_named(card, name)
        if profile is None:
            words = _("%(model)s knows no partition %(name)s.") % {"model": card.model, "name": name}
            raise Invalid.field("layout", words)
        wanted += [profile] * min(count, 64)
    if not _fits(sorted(wanted, key=lambda p: -p.size), 0):
        raise Invalid.field("layout", _("These partitions do not fit on one card together."))


def _fits(wanted: list[MigProfile], mask: int) -> bool:
    """Whether each has a legal placement."""
    if not wanted:
        return True
    piece, rest = wanted[0], wanted[1:]
    spans = (((1 << piece.size) - 1) << start for start in piece.starts)
    return any(not mask & span and _fits(rest, mask | span) for span in spans)


def _node_add(raw: Raw, ground: ScenarioScope) -> Change:
    node, name = ground.node(_text(raw, "node"))
    return Change(ChangeKind.NODE_ADD, node.id, name, value=_whole(raw, "count", 1, MOST_NODES))


def _node_remove(raw: Raw, ground: ScenarioScope) -> Change:
    node, name = ground.node(_text(raw, "node"))
    return Change(ChangeKind.NODE_REMOVE, node.id, name)


_READERS: dict[ChangeKind, Callable[[Raw, ScenarioScope], Change]] = {
    ChangeKind.GUARANTEE: _guarantee,
    ChangeKind.WEIGHT: _weight,
    ChangeKind.PRIORITY: _priority,
    ChangeKind.PRICE: _price,
    ChangeKind.MIN_RUNTIME: _min_runtime,
    ChangeKind.MODE: _mode,
    ChangeKind.NODE_ADD: _node_add,
    ChangeKind.NODE_REMOVE: _node_remove,
}


def form_values(change: Change) -> dict[str, str]:
    """The form values of a change, to adjust it and run it again."""
    which = ", ".join(str(index) for index in change.cards)
    layout = ", ".join(f"{name}×{count}" if count > 1 else name for name, count in change.layout)
    by_kind: dict[ChangeKind, dict[str, str]] = {
        ChangeKind.GUARANTEE: {
            "organisation": change.label,
            "gpu_model": change.model,
            "cards": _short(change.value, WHOLE_MILLI),
        },
        ChangeKind.WEIGHT: {"organisation": change.label, "weight": str(change.value)},
        ChangeKind.PRIORITY: {"user": change.label, "priority": str(change.value)},
        ChangeKind.PRICE: {"package": change.target, "price": _short(change.rate or Decimal(0), FEN_PER_YUAN)},
        ChangeKind.MIN_RUNTIME: {"minutes": _short(change.value, 60)},
        ChangeKind.MODE: {"node": change.label, "which": which, "mode": change.mode, "layout": layout},
        ChangeKind.NODE_ADD: {"node": change.label, "count": str(change.value)},
        ChangeKind.NODE_REMOVE: {"node": change.label},
    }
    return {"kind": change.kind.value, **by_kind[change.kind]}


def _short(value: Decimal | int, unit: int) -> str:
    """The number in its unit, without trailing zeros."""
    number = Decimal(value) / unit
    return f"{number.normalize():f}"
