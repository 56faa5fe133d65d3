"""The parts of a notice's text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.dateparse import parse_datetime

from apps.common.badges import Tone
from apps.common.formatting import moment

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """`page` is the name of the URL that the notice leads to and `args` what stands in it; empty: it leads nowhere.

    `excerpt`: what a program wrote, shown as it is.
    """

    title: str
    text: str
    tone: Tone
    icon: str
    page: str = ""
    action: str = ""
    args: tuple[str, ...] = ()
    excerpt: str = ""

    @property
    def url(self) -> str:
        """The page's path; empty where there is none (any more)."""
        try:
            return reverse(self.page, args=self.args) if self.page else ""
        except NoReverseMatch:
            return ""


Speaker = Callable[[Data], Words]


def name_in(data: Data, key: str, otherwise: str = "—") -> str:
    """A name as it was when the notice was written; dashes where the data has none."""
    return str(data.get(key) or otherwise)


def number_in(data: Data, key: str) -> float:
    try:
        return float(data.get(key) or 0)
    except (TypeError, ValueError):
        return 0.0


def time_in(data: Data, key: str) -> datetime | None:
    """A moment written as ISO 8601."""
    value = data.get(key)
    try:
        return parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None


def moment_in(data: Data, key: str) -> str:
    return moment(time_in(data, key))


def link(data: Data, page: str, key: str) -> dict[str, Any]:
    """`page` and `args` of the object that `data[key]` names; nothing where it names none."""
    value = data.get(key)
    return {"page": page, "args": (str(value),)} if value else {}
