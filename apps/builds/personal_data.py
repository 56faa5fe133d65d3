"""What becomes of builds when an account is deleted: they say how an image was made, and stay with it."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={"builds.Build.owner": Fate.KEPT},
    own=(
        OwnRows(
            "builds",
            _("Image builds"),
            "builds.Build",
            "owner",
            "organisation__name name version containerfile workload__status workload__created_at",
        ),
    ),
)
