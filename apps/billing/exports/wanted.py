"""The specification of an export, as it is stored with it."""

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from apps.billing.export_choices import ExportFormat, ExportKind


@dataclass(frozen=True, slots=True)
class ExportSpec:
    """Days of the billing zone, both included; None limits nothing.

    `text`: part of a run's or a member's name, or of a reference. `organisation_id`: for the platform's staff.
    `list_name` and `query`, of kind LIST: which list (`exports.lists`), and its filters as in the page's address.
    """

    kind: ExportKind
    format: ExportFormat = ExportFormat.CSV
    since: date | None = None
    until: date | None = None
    text: str = ""
    organisation_id: UUID | None = None
    list_name: str = ""
    query: str = ""

    def filters(self) -> dict[str, str]:
        """As JSON, without what limits nothing."""
        found = {
            "since": self.since.isoformat() if self.since else "",
            "until": self.until.isoformat() if self.until else "",
            "q": self.text,
            "organisation": str(self.organisation_id) if self.organisation_id else "",
            "list": self.list_name,
            "query": self.query,
        }
        return {name: value for name, value in found.items() if value}

    def digest(self, organisation_id: UUID | None) -> str:
        """SHA-256 that identifies equal requests within one organisation (None: the platform) and format."""
        content = [self.kind.value, self.format.value, self.filters(), str(organisation_id)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def export_spec(kind: str, format: str, filters: dict[str, Any]) -> ExportSpec:
    """The inverse of `Wanted.filters`."""
    return ExportSpec(
        ExportKind(kind),
        ExportFormat(format),
        date.fromisoformat(filters["since"]) if "since" in filters else None,
        date.fromisoformat(filters["until"]) if "until" in filters else None,
        str(filters.get("q", "")),
        UUID(filters["organisation"]) if "organisation" in filters else None,
        str(filters.get("list", "")),
        str(filters.get("query", "")),
    )
