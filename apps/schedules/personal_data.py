"""What becomes of schedules when an account is deleted: they stay as a history, and start nothing any more."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={"schedules.Schedule.owner": Fate.KEPT},
    own=(
        OwnRows(
            "schedules",
            _("Schedules"),
            "schedules.Schedule",
            "owner",
            "organisation__name name cron from_at until_at overlap status created_at",
        ),
    ),
)
