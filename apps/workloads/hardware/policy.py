"""The rule of lost machines that the platform's staff set."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.tenants import settings

LEAST_MINUTES, MOST_MINUTES = 2, 1440


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """`lost_after_minutes`: of unbroken silence, after which a machine is declared lost; 0: only by an operator."""

    KEY: ClassVar[str] = "nodes"

    lost_after_minutes: int = 5

    @property
    def lost_after(self) -> timedelta | None:
        return timedelta(minutes=self.lost_after_minutes) if self.lost_after_minutes else None

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        if self.lost_after_minutes and not LEAST_MINUTES <= self.lost_after_minutes <= MOST_MINUTES:
            raise Invalid.field("lost_after_minutes", _("Give 2 to 1440 minutes, or 0 for never."))


def rules() -> NodeSettings:
    return settings.get(NodeSettings)
