"""The one place that writes a scenario's status. `fence` rises with each claim: only the newest counts."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.common.claiming import claim_columns, oldest_claimable
from apps.common.clock import db_now
from apps.whatif.choices import OPEN, ScenarioStatus
from apps.whatif.models import Scenario, ScenarioTasks

# A claimant gives a sign every second; one that has not for this long was killed.
SILENT = timedelta(seconds=60)


def claim() -> Scenario | None:
    """Claim the oldest scenario that nobody works on. None if there is none, or one is being replayed.

    One at a time: each takes a whole core for minutes.
    """
    with transaction.atomic():
        if Scenario.objects.filter(status=ScenarioStatus.RUNNING, beat_at__gte=db_now() - SILENT).exists():
            return None
        scenario = oldest_claimable(
            Scenario.objects.all(), queued=ScenarioStatus.QUEUED, running=ScenarioStatus.RUNNING, silent_after=SILENT
        )
        if scenario is None:
            return None
        Scenario.objects.filter(pk=scenario.pk).update(status=ScenarioStatus.RUNNING, progress=0, **claim_columns())
        scenario.refresh_from_db()
        return scenario


def report_progress(scenario: Scenario, progress: float) -> bool:
    """Record progress; False if it was cancelled or another worker has claimed it."""
    return bool(_ours(scenario).update(progress=min(1.0, max(0.0, progress)), beat_at=Now()))


def finish(scenario: Scenario, result: dict[str, Any], tasks: bytes) -> bool:
    """Store the result if the claim is still ours."""
    with transaction.atomic():
        if not _ours(scenario).update(status=ScenarioStatus.DONE, progress=1, result=result, error="", ended_at=Now()):
            return False
        ScenarioTasks.objects.update_or_create(scenario=scenario, defaults={"content": tasks})
        return True


def fail(scenario: Scenario, error: str) -> bool:
    """Record why it failed if the claim is still ours."""
    return bool(_ours(scenario).update(status=ScenarioStatus.FAILED, error=error[:2000], ended_at=Now()))


def cancel(scenario: Scenario) -> bool:
    """Cancel it; the worker notices within about a second. False if it had ended."""
    rows = Scenario.objects.filter(pk=scenario.pk, status__in=OPEN)
    return bool(rows.update(status=ScenarioStatus.CANCELLED, ended_at=Now()))


def _ours(scenario: Scenario) -> Any:
    return Scenario.objects.filter(pk=scenario.pk, status=ScenarioStatus.RUNNING, fence=scenario.fence)
