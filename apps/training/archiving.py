"""Put ended runs out of the list's sight, and take them back: nothing of them changes otherwise."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.training.models import Run
from apps.workloads import announce
from apps.workloads.permissions import may_change


def archive(actor: Actor, run: Run) -> None:
    """Once it has ended; the same again changes nothing. Raises `Conflict` while it lives."""
    may_change(actor, run.workload)
    if run.workload.is_live:
        raise Conflict(_("It has not ended yet."), hint=_("Only what has ended can be archived."))
    _set(actor, run, "run.archived", {"archived_at": Now()}, was_archived=False)


def unarchive(actor: Actor, run: Run) -> None:
    may_change(actor, run.workload)
    _set(actor, run, "run.unarchived", {"archived_at": None}, was_archived=True)


def _set(actor: Actor, run: Run, action: str, columns: dict[str, Any], *, was_archived: bool) -> None:
    rows = Run.objects.filter(pk=run.pk, archived_at__isnull=not was_archived, deleted_at__isnull=True)
    with transaction.atomic():
        if rows.update(**columns):
            target = Target("run", str(run.pk), run.name)
            record(actor, action=action, target=target, organisation_id=run.organisation_id)
            announce.progressed(run.workload)
    run.refresh_from_db(fields=["archived_at"])
