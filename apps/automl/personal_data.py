"""What becomes of experiments when an account is deleted: they are the organisation's results, and stay."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={"automl.Experiment.owner": Fate.KEPT},
    own=(
        OwnRows(
            "experiments",
            _("Tuning experiments"),
            "automl.Experiment",
            "owner",
            "organisation__name name note template__name algorithm status created_at ended_at",
        ),
    ),
)
