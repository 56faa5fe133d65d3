"""What somebody wants a file of, as it is kept with the export."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from apps.billing.export_choices import ExportFormat, ExportKind


@dataclass(frozen=True, slots=True)
class Wanted:
    """Days of the billing zone, both included; None limits nothing.

    `text`: part of a run's or a member's name, or of a reference. `organisation_id`: for the platform's staff.
    """

    kind: ExportKind
    format: ExportFormat = ExportFormat.CSV
    since: date | None = None
    until: date | None = None
    text: str = ""
    organisation_id: UUID | None = None

    def filters(self) -> dict[str, str]:
        """As JSON, without what limits nothing."""
        found = {
            "since": self.since.isoformat() if self.since else "",
            "until": self.until.isoformat() if self.until else "",
            "q": self.text,
            "organisation": str(self.organisation_id) if self.organisation_id else "",
        }
        return {name: value for name, value in found.items() if value}

    def digest(self, organisation_id: UUID | None) -> str:
        """What tells one wish from another: within one organisation (None: the platform), in one format."""
        content = [self.kind.value, self.format.value, self.filters(), str(organisation_id)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def wanted_of(kind: str, format: str, filters: dict[str, Any]) -> Wanted:
    """The inverse of `Wanted.filters`."""
    return Wanted(
        ExportKind(kind),
        ExportFormat(format),
        date.fromisoformat(filters["since"]) if "since" in filters else None,
        date.fromisoformat(filters["until"]) if "until" in filters else None,
        str(filters.get("q", "")),
        UUID(filters["organisation"]) if "organisation" in filters else None,
    )
