"""The one place that writes a checkup's status. `fence` rises with each claim: only the newest counts."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.clusters.choices import CheckupStatus
from apps.clusters.models import ClusterCheckup
from apps.common.claiming import claim_columns, oldest_claimable

# A claimant gives a sign with each step, and while it waits; one that has not for this long was killed.
SILENT = timedelta(seconds=60)


def claim_checkup() -> ClusterCheckup | None:
    """Claim the oldest checkup that nobody works on."""
    with transaction.atomic():
        found = oldest_claimable(
            ClusterCheckup.objects.all(),
            queued=CheckupStatus.QUEUED,
            running=CheckupStatus.RUNNING,
            silent_after=SILENT,
        )
        if found is None:
            return None
        ClusterCheckup.objects.filter(pk=found.pk).update(
            status=CheckupStatus.RUNNING, step="", findings=[], **claim_columns()
        )
        found.refresh_from_db()
        return found


def report_step(checkup: ClusterCheckup, step: str, findings: list[dict[str, Any]]) -> bool:
    """What is looked at now, and what was found so far; False if another worker has claimed it."""
    return bool(_ours(checkup).update(step=step, findings=findings, beat_at=Now()))


def finish_checkup(checkup: ClusterCheckup, findings: list[dict[str, Any]]) -> bool:
    """Keep the result if the claim is still ours."""
    return bool(_ours(checkup).update(status=CheckupStatus.DONE, step="", findings=findings, ended_at=Now()))


def fail_checkup(checkup: ClusterCheckup) -> bool:
    """It broke down; what was found until then is kept."""
    return bool(_ours(checkup).update(status=CheckupStatus.FAILED, ended_at=Now()))


def _ours(checkup: ClusterCheckup) -> Any:
    return ClusterCheckup.objects.filter(pk=checkup.pk, status=CheckupStatus.RUNNING, fence=checkup.fence)
