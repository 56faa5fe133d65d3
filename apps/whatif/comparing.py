"""Compare side B with side A: each figure, whether it improved, and by how much."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.formatting import UNKNOWN, duration
from apps.common.money import yuan

Number = float | int
Shown = Callable[[Number], str]


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNKNOWN = "unknown"


class Unit(StrEnum):
    SECONDS = "seconds"
    SHARE = "share"
    COUNT = "count"
    FEN = "fen"
    HOURS = "hours"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the comparison. `key` tells figures apart; `change` is B against A in words."""

    key: str
    label: str | Promise
    unit: Unit
    a: Number | None
    b: Number | None
    verdict: Verdict
    shown_a: str
    shown_b: str
    change: str

    @property
    def relative(self) -> float:
        """How much B differs, as a share of A; of the whole if A is zero."""
        if self.a is None or self.b is None or self.a == self.b:
            return 0.0
        return (self.b - self.a) / self.a if self.a else 1.0


@dataclass(frozen=True, slots=True)
class _Line:
    key: str
    label: str | Promise
    unit: Unit
    lower_is_better: bool
    of: Callable[[Mapping[str, Any]], Number | None]


_LINES = (
    _Line("mean", gettext_lazy("Mean wait"), Unit.SECONDS, True, lambda s: s["waits"]["mean"]),
    _Line("p50", gettext_lazy("p50 wait"), Unit.SECONDS, True, lambda s: s["waits"]["p50"]),
    _Line("p90", gettext_lazy("p90 wait"), Unit.SECONDS, True, lambda s: s["waits"]["p90"]),
    _Line(
        "large_p90",
        gettext_lazy("p90 wait of tasks with 4 cards and more"),
        Unit.SECONDS,
        True,
        lambda s: s["large"]["p90"],
    ),
    _Line("waiting", gettext_lazy("Waiting at the end"), Unit.COUNT, True, lambda s: s["waiting"]),
    _Line("withdrawn", gettext_lazy("Given up waiting"), Unit.COUNT, True, lambda s: s["withdrawn"]),
    _Line("allocation", gettext_lazy("Cards handed out"), Unit.SHARE, False, lambda s: s["allocation"]),
    _Line("fragmentation", gettext_lazy("Lost in fragments"), Unit.SHARE, True, lambda s: s["fragmentation"]),
    _Line("evictions", gettext_lazy("Pre-emptions"), Unit.COUNT, True, lambda s: s["evictions"]),
    _Line("revenue", gettext_lazy("Revenue"), Unit.FEN, False, lambda s: s["revenue_fen"]),
)


def figures(result: Mapping[str, Any], *, money: bool) -> list[Figure]:
    """All figures that both sides have; revenue only if prices are known and may be seen."""
    a, b = result["a"], result["b"]
    shown = [line for line in _LINES if line.unit is not Unit.FEN or (money and result["priced"])]
    return [_figure(line.key, line.label, line.unit, line.lower_is_better, line.of(a), line.of(b)) for line in shown]


@dataclass(frozen=True, slots=True)
class OfOrganisation:
    """One organisation's figures."""

    name: str
    tasks: int
    mean: Figure
    p90: Figure
    evictions: Figure
    gpu_hours: Figure
    revenue: Figure | None


def by_organisation(result: Mapping[str, Any], *, money: bool) -> list[OfOrganisation]:
    """By name; both sides have the same ones, because they replay the same tasks."""
    others = {row["key"]: row for row in result["b"]["organisations"]}
    return [_organisation(row, others[row["key"]], money and result["priced"]) for row in result["a"]["organisations"]]


def _organisation(a: Mapping[str, Any], b: Mapping[str, Any], money: bool) -> OfOrganisation:
    def wait(name: str) -> Figure:
        return _figure(name, a["name"], Unit.SECONDS, True, a["waits"][name], b["waits"][name])

    def plain(name: str, unit: Unit, lower_is_better: bool) -> Figure:
        return _figure(name, a["name"], unit, lower_is_better, a[name], b[name])

    return OfOrganisation(
        a["name"] or UNKNOWN,
        a["waits"]["count"],
        wait("mean"),
        wait("p90"),
        plain("evictions", Unit.COUNT, True),
        plain("gpu_hours", Unit.HOURS, False),
        plain("revenue_fen", Unit.FEN, False) if money else None,
    )


def _figure(
    key: str, label: str | Promise, unit: Unit, lower_is_better: bool, a: Number | None, b: Number | None
) -> Figure:
    if a is None or b is None:
        return Figure(key, label, unit, a, b, Verdict.UNKNOWN, _shown(unit, a), _shown(unit, b), "")
    shown_a, shown_b = _shown(unit, a), _shown(unit, b)
    if shown_a == shown_b:  # a difference that cannot be seen is none
        return Figure(key, label, unit, a, b, Verdict.SAME, shown_a, shown_b, "")
    verdict = Verdict.BETTER if (b < a) == lower_is_better else Verdict.WORSE
    return Figure(key, label, unit, a, b, verdict, shown_a, shown_b, _change(unit, a, b))


def _shown(unit: Unit, value: Number | None) -> str:
    if value is None:
        return UNKNOWN
    shown: dict[Unit, Shown] = {
        Unit.SECONDS: duration,
        Unit.SHARE: lambda share: f"{100 * share:.1f}%",
        Unit.COUNT: lambda count: f"{count:,}",
        Unit.FEN: lambda fen: yuan(int(fen)),
        Unit.HOURS: lambda hours: f"{hours:,.1f}",
    }
    return shown[unit](value)


def _change(unit: Unit, a: Number, b: Number) -> str:
    if unit is Unit.SHARE:
        return _("%(points)s points") % {"points": signed(100 * (b - a))}
    if unit is Unit.COUNT or not a:
        plus = "+" if b > a else "−"
        return f"{plus}{_shown(unit, abs(b - a))}"
    return f"{signed(100 * (b - a) / a)}%"


def signed(value: float) -> str:
    """`+3.5`, `−38`: one decimal below ten, a real minus sign."""
    size = abs(value)
    text = f"{size:.1f}".removesuffix(".0") if size < 10 else f"{size:,.0f}"
    return f"{'+' if value > 0 else '−'}{text}"


def bars(result: Mapping[str, Any]) -> Iterator[tuple[str, int, float, int, float]]:
    """(words, tasks on A, width of A's bar in %, the same of B): one scale for both sides."""
    a, b = result["a"]["histogram"], result["b"]["histogram"]
    most = max(*a, *b, 1)
    for words, one, other in zip(edge_words(), a, b, strict=True):
        yield words, one, round(100 * one / most, 2), other, round(100 * other / most, 2)


def edge_words() -> tuple[str, ...]:
    return (_("< 1 min"), _("1–5 min"), _("5–15 min"), _("15–60 min"), _("1–4 h"), _("4 h and more"))
