"""The reports that an actor finds: their own, and those that are shared with the organisation."""

from uuid import UUID

from django.db.models import Q, QuerySet

from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.permissions import Permission
from apps.training.choices import KIND
from apps.training.models import Report, Run
from apps.training.selectors import runs
from apps.workloads.permissions import may_manage


def reports(actor: Actor) -> QuerySet[Report]:
    """Those that were changed last first."""
    actor.require(Permission.TRAINING_VIEW)
    rows = Report.objects.filter(Q(owner_id=actor.user_id) | Q(shared=True), organisation_id=actor.organisation())
    return rows.select_related("owner").order_by("-changed_at", "-pk")


def report(actor: Actor, report_id: UUID) -> Report:
    found = reports(actor).filter(pk=report_id).first()
    if found is None:
        raise NotFound
    return found


def changeable(actor: Actor, report_id: UUID) -> Report:
    """Its owner may change it, and of a shared one who manages the organisation's runs; `NotFound` for others."""
    row = report(actor, report_id)
    may_manage(actor, KIND, row.owner_id)
    return row


def may_change(actor: Actor, row: Report) -> bool:
    try:
        may_manage(actor, KIND, row.owner_id)
    except DomainError:
        return False
    return True


def runs_of(actor: Actor, row: Report) -> list[Run]:
    """Those of its runs that the actor sees, in the report's order."""
    found = {str(run.pk): run for run in runs(actor).filter(pk__in=row.runs)}
    return [found[pk] for pk in row.runs if pk in found]
