"""The metrics of a version beside those of the one before it."""

from dataclasses import dataclass

from apps.modelhub.models import ModelVersion

MOST = 200


@dataclass(frozen=True, slots=True)
class MetricRow:
    """Numbers as people read them; "" where a version has none. `change` carries its sign."""

    name: str
    value: str
    before: str
    change: str


def compared(version: ModelVersion, before: ModelVersion | None) -> list[MetricRow]:
    """By name, those of `version` first."""
    ours, theirs = version.metrics, before.metrics if before is not None else {}
    names = [*sorted(ours), *sorted(set(theirs) - set(ours))][:MOST]
    return [_row(name, ours.get(name), theirs.get(name)) for name in names]


def _row(name: str, value: float | None, before: float | None) -> MetricRow:
    change = ""
    if value is not None and before is not None:
        difference = value - before
        change = f"{difference:+.4g}".replace("-", "−") if difference else "0"
    return MetricRow(name, number(value), number(before), change)


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}".replace("-", "−")
