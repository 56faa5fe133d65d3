"""Work that lies in rows, for one worker at a time: the oldest is claimed, and anew once its claimant is silent.

Rows have `status`, `created_at`, `started_at`, `beat_at`, by which a claimant shows that it lives, and `fence`, which
rises with each claim: only the newest claimant may write. The status itself is written by the `states` of the app.
"""

from datetime import timedelta
from typing import Any, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from apps.common.clock import db_now

M = TypeVar("M", bound=Model)

# What has ended so many workers is not handed to another one.
MOST_CLAIMS = 3


def oldest_claimable(rows: QuerySet[M], *, queued: str, running: str, silent_after: timedelta) -> M | None:
    """Locked, so that no other worker claims it meanwhile: call in the transaction that writes the claim."""
    silent = Q(status=running, beat_at__lt=db_now() - silent_after)
    due = rows.filter(Q(status=queued) | silent).order_by("created_at", "pk")
    return due.select_for_update(skip_locked=True).first()


def claim_columns() -> dict[str, Any]:
    """What a claim writes beside the status."""
    return {"fence": F("fence") + 1, "beat_at": Now(), "started_at": Coalesce("started_at", Now())}
