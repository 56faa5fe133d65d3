"""What the platform's staff decide about environments; the console's settings page shows these fields."""

from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid

MAX_MINUTES = 60 * 24 * 366


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """Minutes, days and MiB as the names say; 0: no limit, or never.

    `idle_minutes`: what a new environment starts with. `max_idle_minutes`: the longest that a person may choose; with
    0 they may also choose never. `durations_days`: for how long one may be asked for or renewed.
    """

    KEY: ClassVar[str] = "environments"

    idle_minutes: int = 30
    max_idle_minutes: int = 0
    durations_days: tuple[int, ...] = (1, 7, 30, 90)
    duration_days: int = 30
    unlimited: bool = True
    bin_days: int = 30
    home_mib: int = 50 * 1024
    automatic_snapshots: int = 10

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        numbers = ("idle_minutes", "max_idle_minutes", "bin_days", "home_mib", "automatic_snapshots")
        for name in numbers:
            if not 0 <= getattr(self, name) <= 1 << 30:
                raise Invalid.field(name, _("Give a number that is not negative."))
        if not self.durations_days or any(not 0 < days <= 3660 for days in self.durations_days):
            raise Invalid.field("durations_days", _("Give at least one duration, in days."))
        if self.max_idle_minutes and not 0 < self.idle_minutes <= self.max_idle_minutes:
            raise Invalid.field("idle_minutes", _("It must be between 1 and the longest that may be chosen."))
        if self.bin_days < 1:
            raise Invalid.field("bin_days", _("Keep deleted environments for at least a day."))

    def check_idle(self, minutes: int | None) -> int | None:
        """The idle rule as chosen, None for never. Raises `Invalid`."""
        limit = self.max_idle_minutes
        if minutes is None and limit:
            raise Invalid.field("idle", _("An environment must be released when it is idle; choose after how long."))
        if minutes is not None and not 1 <= minutes <= (limit or MAX_MINUTES):
            raise Invalid.field("idle", _("Choose one of the times."))
        return minutes
