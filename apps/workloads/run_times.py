"""How long a start runs, as its owner says, and when it is stopped for that: the rules of the values."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.formatting import duration

# Seconds of either time, and minutes of the rule for cards.
LEAST_S, MOST_S = 60, 366 * 86_400
LEAST_IDLE_MINUTES, MOST_IDLE_MINUTES = 5, 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Each None where nobody said. `gpu_idle_minutes`: it is stopped once its cards have stood idle for so long."""

    expected_s: int | None = None
    longest_s: int | None = None
    gpu_idle_minutes: int | None = None

    def check(self) -> None:
        """Raises `Invalid` with the field at fault."""
        for name, seconds in (("expected", self.expected_s), ("longest", self.longest_s)):
            check_seconds(name, seconds)
        if self.expected_s is not None and self.longest_s is not None and self.expected_s > self.longest_s:
            raise Invalid.field(
                "expected",
                _("It is stopped after %(longest)s, so it cannot be expected to run for longer.")
                % {"longest": duration(self.longest_s)},
            )
        minutes = self.gpu_idle_minutes
        if minutes is not None and not LEAST_IDLE_MINUTES <= minutes <= MOST_IDLE_MINUTES:
            raise Invalid.field("gpu_idle", _("Give from five minutes to seven days."))

    def columns(self, *, has_gpu: bool) -> dict[str, Any]:
        """Of the workload. Without a card there is none that could stand idle. Raises `Invalid`."""
        self.check()
        return {
            "expected_s": self.expected_s,
            "longest_s": self.longest_s,
            "gpu_idle_minutes": self.gpu_idle_minutes if has_gpu else None,
        }


NO_TIMES = RunTimes()


def check_seconds(name: str, seconds: int | None) -> None:
    """Raises `Invalid` beside `name` for a time that is too short or too long."""
    if seconds is not None and not LEAST_S <= seconds <= MOST_S:
        raise Invalid.field(name, _("Give from one minute to 366 days."))
