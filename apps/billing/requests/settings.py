"""How requests for packages are decided."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from django.utils.translation import gettext as _

from apps.common.errors import Invalid

MAX_DAYS = 3660


class Approvers(StrEnum):
    """Who decides; the platform's staff always may."""

    ORGANISATION = "organisation"
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """`days`: how long an approval lets a person use the package; None for good."""

    KEY: ClassVar[str] = "package-review"

    approvers: Approvers = Approvers.PLATFORM
    days: int | None = None

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        if self.days is not None and not 1 <= self.days <= MAX_DAYS:
            raise Invalid.field("days", _("Give 1 to 3660 days, or nothing."))
