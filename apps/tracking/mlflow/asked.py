"""What a client of MLflow asks: JSON as Google's protobuf writes it, where numbers may be text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.errors import Invalid, NotFound
from apps.tracking.points import Point

_LARGEST_MS = 253_402_300_799_000  # the year 9999
_ODD = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields of a request, from its body or its query. Each is read as its type, or refused by its name."""

    fields: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        value = self.fields.get(name, default)
        if not isinstance(value, str) or (default is None and not value):
            raise Invalid.field(name, _("A text is needed."))
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        value = self.fields.get(name, default)
        if isinstance(value, bool):
            raise Invalid.field(name, _("A whole number is needed."))
        try:
            return int(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise Invalid.field(name, _("A whole number is needed.")) from error

    def number(self, name: str) -> float:
        value = self.fields.get(name)
        if isinstance(value, str):
            value = _ODD.get(value, value)
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError) as error:
            raise Invalid.field(name, _("A number is needed.")) from error

    def several(self, name: str) -> list["Asked"]:
        value = self.fields.get(name) or []
        if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
            raise Invalid.field(name, _("A list of objects is needed."))
        return [Asked(each) for each in value]

    def texts(self, name: str) -> list[str]:
        value = self.fields.get(name) or []
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise Invalid.field(name, _("A list of texts is needed."))
        return found

    def moment(self, name: str) -> datetime | None:
        """From milliseconds."""
        if self.fields.get(name) in (None, ""):
            return None
        value = self.whole(name)
        if not 0 <= value <= _LARGEST_MS:
            raise Invalid.field(name, _("A time in Unix milliseconds is needed."))
        return datetime.fromtimestamp(value / 1000, UTC)

    def run_id(self, name: str = "run_id") -> UUID:
        """Older clients call it `run_uuid`. Raises `NotFound` for what is no id of a run here."""
        value = self.fields.get(name) or self.fields.get("run_uuid") or ""
        return run_id_of(value)

    def point(self) -> Point:
        return Point(self.text("key"), self.number("value"), self.whole("step", 0), self.whole("timestamp") / 1000)

    def pair(self) -> tuple[str, str]:
        return self.text("key"), self.text("value", "")


def run_id_of(value: Any) -> UUID:
    try:
        return UUID(hex=str(value))
    except ValueError as error:
        raise NotFound from error
