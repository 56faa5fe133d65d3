"""Which shares count now: one condition for lists, pickers, tokens and starts."""

from uuid import UUID

from django.db.models import DateField, Q, QuerySet
from django.db.models.functions import Now, TruncDate
from django.utils import timezone

from apps.registry.sharing.models import RepositoryShare
from apps.registry.sharing.settings import SharingSettings
from apps.tenants import settings
from apps.tenants.choices import OrganisationStatus


def is_allowed() -> bool:
    """Whether the operator lets organisations share at all."""
    return settings.get(SharingSettings).allowed


def today() -> TruncDate:
    """By the database's clock and the platform's time zone, so that a share ends for all its readers at once."""
    return TruncDate(Now(), tzinfo=timezone.get_default_timezone(), output_field=DateField())


def received(organisation_id: UUID | None) -> QuerySet[RepositoryShare]:
    """Shares of which the organisation's people have something now.

    While either organisation is frozen its shares rest, as do all while the operator allows none.
    """
    if organisation_id is None or not is_allowed():
        return RepositoryShare.objects.none()
    return RepositoryShare.objects.filter(
        Q(until__isnull=True) | Q(until__gte=today()),
        receiver_id=organisation_id,
        receiver__status=OrganisationStatus.ACTIVE,
        repository__organisation__status=OrganisationStatus.ACTIVE,
        declined_at__isnull=True,
    )


def received_ids(organisation_id: UUID | None) -> QuerySet[RepositoryShare, UUID]:
    """The ids of the repositories, for a condition."""
    return received(organisation_id).values_list("repository_id", flat=True)


def is_received(organisation_id: UUID | None, name: str) -> bool:
    """Whether the repository of this name is among them."""
    return received(organisation_id).filter(repository__name=name).exists()
