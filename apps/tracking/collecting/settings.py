"""What a run asks of the collectors. The app of its kind knows: see `settings.METRICS_OF`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.tracking.collecting.reading.own_patterns import LONGEST, MOST, BadPattern, compiled


@dataclass(frozen=True, slots=True)
class MetricSettings:
    """`read`: whether its log and output are read at all; `patterns`: in place of the house's rules for its log."""

    read: bool = True
    patterns: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Empty for the defaults, which most runs have."""
        return {} if self == READ_ALL else {"read": self.read, "patterns": list(self.patterns)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "MetricSettings":
        return cls(data.get("read", True), tuple(data.get("patterns", ())))


READ_ALL = MetricSettings()

FindSettings: TypeAlias = Callable[[Iterable[UUID]], dict[UUID, MetricSettings]]


def kinds() -> list[str]:
    """Kinds of work whose metrics are read."""
    return list(settings.METRICS_OF)


def settings_of(workload_ids: Iterable[UUID]) -> dict[UUID, MetricSettings]:
    """By workload; one that no kind knows is left out."""
    ids, found = list(workload_ids), dict[UUID, MetricSettings]()
    for finder in settings.METRICS_OF.values():
        find: FindSettings = import_string(finder)
        found |= find(ids)
    return found


def clean_patterns(patterns: Sequence[str], field: str = "metric_patterns") -> tuple[str, ...]:
    """Those that are not empty. Raises `Invalid` beside the field, with the number of the one that is wrong."""
    kept = tuple(pattern.strip() for pattern in patterns if pattern.strip())
    try:
        compiled(kept)
    except BadPattern as error:
        raise Invalid.field(field, words_of(error)) from error
    return kept


def words_of(error: BadPattern) -> str:
    number = error.number + 1
    if error.code == "many":
        return _("At most %(most)s patterns.") % {"most": MOST}
    if error.code == "long":
        return _("Pattern %(number)s is longer than %(most)s characters.") % {"number": number, "most": LONGEST}
    if error.code == "syntax":
        return _("Pattern %(number)s is no regular expression: %(detail)s.") % {
            "number": number,
            "detail": error.detail,
        }
    return _(
        "Pattern %(number)s needs named groups: (?P<name>…) and (?P<value>…), or one that is called as the metric is, "
        "such as (?P<loss>…)."
    ) % {"number": number}
