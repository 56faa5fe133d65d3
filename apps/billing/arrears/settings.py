"""What happens when the money runs out, unless an organisation has terms of its own."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.billing import policy
from apps.common.errors import Invalid

MAX_GRACE_MINUTES = 60 * 24 * 90
MAX_RETENTION_DAYS = 3660
WRONG_RETENTION = gettext_lazy("Give 7 to 3660 days: a release is announced a week before.")


@dataclass(frozen=True, slots=True)
class ArrearsSettings:
    """`grace_minutes`: how long work goes on without money. `retention_days`: how long data is kept after that.

    `deletes`: what is released goes into the recycle bin by itself; otherwise only when the platform's staff say so.
    """

    KEY: ClassVar[str] = "arrears"

    grace_minutes: int = int(policy.GRACE / timedelta(minutes=1))
    retention_days: int = policy.RETENTION_DAYS
    deletes: bool = False

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        check_grace(self.grace_minutes)
        check_retention(self.retention_days)


def check_grace(minutes: int) -> None:
    if not 0 <= minutes <= MAX_GRACE_MINUTES:
        raise Invalid.field("grace_minutes", _("Give 0 to 129600 minutes (90 days)."))


def check_retention(days: int) -> None:
    if not policy.RELEASE_NOTICES[0] <= days <= MAX_RETENTION_DAYS:
        raise Invalid.field("retention_days", WRONG_RETENTION)
