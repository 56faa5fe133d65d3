"""Who may use a machine that cannot keep workloads apart (level L0): one trusted organisation, unless told."""

from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.clusters.models import Node
from apps.common.errors import Conflict
from apps.common.prepared import prepared_in_scope
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation
from apps.workloads.drivers.base import IsolationLevel
from apps.workloads.words import isolation_remedy


def trusted_organisation() -> UUID | None:
    """The one organisation that unisolated machines serve: the first that was made and is still active."""
    first: Organisation | None = (
        Organisation.objects.with_scopes_disabled()
        .filter(status=OrganisationStatus.ACTIVE)
        .order_by("created_at", "pk")
        .first()
    )
    return first.pk if first else None


def usable_nodes(organisation_id: UUID) -> set[UUID]:
    """Ids of the nodes whose isolation is enough for this organisation."""
    levels = dict(_levels())
    unisolated = {pk for pk, level in levels.items() if level == IsolationLevel.L0}
    # Whom these serve is asked only where there are any.
    if not unisolated or settings.PLSTACK_ALLOW_SHARED_L0 or organisation_id == trusted_organisation():
        return set(levels)
    return levels.keys() - unisolated


@prepared_in_scope
def _levels() -> QuerySet[Node, tuple[UUID, str]]:
    return Node.objects.values_list("pk", "isolation")


def reserved_nodes() -> set[UUID]:
    """Ids of the nodes that serve the trusted organisation alone."""
    if settings.PLSTACK_ALLOW_SHARED_L0:
        return set()
    return set(Node.objects.filter(isolation=IsolationLevel.L0).values_list("pk", flat=True))


def refuse_unless_trusted(organisation_id: UUID) -> None:
    """Raise `Conflict` where every machine is unisolated and serves another organisation."""
    if not usable_nodes(organisation_id) and Node.objects.exists():
        unisolated = Node.objects.filter(isolation=IsolationLevel.L0)
        raise Conflict(
            _("This machine cannot keep organisations apart, so only one organisation may run work on it."),
            hint=isolation_remedy(list(unisolated.values_list("isolation_reason", flat=True))),
        )
