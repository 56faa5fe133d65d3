"""What becomes of pipelines when an account is deleted: they are the organisation's, and stay; they start nothing."""

from django.utils.translation import gettext_lazy as _

from apps.tenants.personal_data import Fate, OwnRows, PersonalData

DATA = PersonalData(
    links={
        "pipelines.Pipeline.owner": Fate.KEPT,
        "pipelines.PipelineVersion.made_by": Fate.KEPT,
        "pipelines.PipelineRun.owner": Fate.KEPT,
    },
    own=(
        OwnRows(
            "pipelines",
            _("Pipelines"),
            "pipelines.Pipeline",
            "owner",
            "organisation__name name note newest created_at deleted_at",
        ),
        OwnRows(
            "pipeline_runs",
            _("Runs of pipelines"),
            "pipelines.PipelineRun",
            "owner",
            "organisation__name pipeline__name number cause parameters status created_at ended_at",
        ),
    ),
)
