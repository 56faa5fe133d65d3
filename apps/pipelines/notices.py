"""What the owner of a pipeline is told: once, of the end of each run, unless they stopped it themselves."""

from apps.notifications.services import notify_user
from apps.pipelines.choices import EndReason, StepStatus
from apps.pipelines.models import PipelineRun, StepRun

KIND = "pipeline.ended"


def tell_ended(row: PipelineRun) -> None:
    """In the transaction of the end."""
    if row.reason == EndReason.BY_PERSON:
        return
    failed = StepRun.objects.filter(pipeline_run=row, status=StepStatus.FAILED).order_by("-created_at").first()
    notify_user(
        organisation_id=row.organisation_id,
        user_id=row.owner_id,
        kind=KIND,
        data={
            "name": row.pipeline.name,
            "number": row.number,
            "run_id": str(row.pk),
            "status": row.status,
            "reason": row.reason,
            **({"step": failed.step} if failed is not None and row.status == "failed" else {}),
        },
        dedup=f"{KIND}:{row.pk}:{row.round}",
    )
