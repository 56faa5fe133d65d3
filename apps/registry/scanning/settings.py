"""What the operator sets about scans: the floor under all organisations' policies, and the database."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.registry.scanning.choices import THRESHOLDS, PolicyAction, Severity
from apps.registry.scanning.policy import Rule

MOST_DAYS = 365


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """`mirror`: where Grype asks for a newer database, "" for nowhere. `stale_days`: from when it is called old."""

    KEY: ClassVar[str] = "image_scans"

    action: PolicyAction = PolicyAction.OFF
    severity: Severity = Severity.CRITICAL
    only_fixable: bool = False
    block_unscanned: bool = False
    mirror: str = ""
    stale_days: int = 7

    def validate(self) -> None:
        """Raises `Invalid` with the fields at fault."""
        if self.severity not in THRESHOLDS:
            raise Invalid.field("severity", _("Choose critical, high, medium or low."))
        if not 1 <= self.stale_days <= MOST_DAYS:
            raise Invalid.field("stale_days", _("Give a number of days from 1 to 365."))
        parts = urlsplit(self.mirror)
        plain = self.mirror.isascii() and self.mirror.isprintable() and " " not in self.mirror
        if self.mirror and (
            parts.scheme not in ("http", "https") or not parts.hostname or not plain or "@" in parts.netloc
        ):
            raise Invalid.field("mirror", _("Give a web address without user name and password."))

    @property
    def rule(self) -> Rule:
        return Rule(self.action.value, self.severity.value, self.only_fixable, self.block_unscanned)

    @property
    def stale_after(self) -> timedelta:
        return timedelta(days=self.stale_days)
