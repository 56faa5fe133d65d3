"""The changes of side B: one frozen record each, as stored in a scenario's row."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from apps.whatif.choices import ChangeKind


@dataclass(frozen=True, slots=True)
class Change:
    """`target`: the id (of a trace: the name) of what is changed, `label` what people call it.

    `value` by kind: milli-cards (guarantee), weight, priority, seconds (minimum run time), number of nodes. `was`: the
    same before, where it was known. `rate` and `rate_was`: fen an hour. `cards`: indexes, none for all of the node.
    `layout`: MIG partitions that each card is cut into, (profile, how many); none for any that fit.
    """

    kind: ChangeKind
    target: str = ""
    label: str = ""
    model: str = ""
    value: int = 0
    was: int | None = None
    rate: Decimal | None = None
    rate_was: Decimal | None = None
    cards: tuple[int, ...] = ()
    mode: str = ""
    layout: tuple[tuple[str, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Without empty values."""
        plain = {name: value for name, value in asdict(self).items() if value not in ("", None, ())}
        plain["kind"] = self.kind.value
        for name in ("rate", "rate_was"):
            if name in plain:
                plain[name] = str(plain[name])
        return plain

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Change":
        """Raises KeyError, TypeError or ValueError for what `as_json` did not write."""
        known = dict(data)
        known["kind"] = ChangeKind(known["kind"])
        for name in ("rate", "rate_was"):
            if name in known:
                known[name] = Decimal(known[name])
        known["cards"] = tuple(known.get("cards", ()))
        known["layout"] = tuple((name, int(count)) for name, count in known.get("layout", ()))
        return cls(**known)


def changes_of(rows: list[Mapping[str, Any]]) -> tuple[Change, ...]:
    return tuple(Change.from_json(row) for row in rows)
