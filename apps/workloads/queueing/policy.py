"""The rules of giving way that the platform's staff set. Everything that needs one of them reads it here."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from django.utils.translation import gettext as _

import scheduler
from apps.common.errors import Invalid
from apps.tenants import settings

MAX_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Seconds. `notice_s`: from the notice until SIGTERM. `save_s`: from SIGTERM until SIGKILL.

    `min_runtime_s`: what runs for less than this is not asked to give way. `firm_over_guarantee`: work that must not be
    interrupted is not, even beyond its organisation's guarantee; False leaves that part to guarantees of others.
    """

    KEY: ClassVar[str] = "queue"

    notice_s: int = 120
    save_s: int = 300
    min_runtime_s: int = 600
    firm_over_guarantee: bool = True

    @property
    def notice(self) -> timedelta:
        return timedelta(seconds=self.notice_s)

    @property
    def save(self) -> timedelta:
        return timedelta(seconds=self.save_s)

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        for name, least in (("notice_s", 0), ("save_s", 10), ("min_runtime_s", 0)):
            if not least <= getattr(self, name) <= MAX_SECONDS:
                raise Invalid.field(name, _("Give %(least)s to 86400 seconds.") % {"least": least})


def pass_rules(rules: QueueSettings) -> scheduler.Rules:
    """The same as the scheduler takes them."""
    return scheduler.Rules(
        notice_s=float(rules.notice_s),
        save_window_s=float(rules.save_s),
        firm_over_guarantee=rules.firm_over_guarantee,
    )


def rules() -> QueueSettings:
    """The rules in force now. A notice that has been given keeps the times that it named."""
    return settings.get(QueueSettings)
