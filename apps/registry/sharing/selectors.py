"""Reading shares: those of one's repositories, and those that one's organisation receives."""

from uuid import UUID

from django.db.models import BooleanField, Case, QuerySet, Value, When

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.registry.distribution.selectors import may_change, repository_of
from apps.registry.models import ImageRepository
from apps.registry.sharing import rights
from apps.registry.sharing.choices import ShareState
from apps.registry.sharing.models import RepositoryShare
from apps.tenants.choices import OrganisationStatus


def _shares() -> QuerySet[RepositoryShare]:
    """With `over`: whether its last day is past."""
    over = Case(When(until__lt=rights.today(), then=Value(True)), default=Value(False), output_field=BooleanField())
    rows = RepositoryShare.objects.annotate(over=over)
    return rows.select_related("repository__organisation", "receiver", "shared_by").order_by("-created_at", "-pk")


def shareable(actor: Actor, repository_id: UUID) -> ImageRepository:
    """A repository that the actor may share with other organisations: whoever may delete it. `NotFound` otherwise."""
    repository = repository_of(actor, repository_id)
    if not may_change(actor, repository):
        raise NotFound
    return repository


def shares_of(repository: ImageRepository) -> QuerySet[RepositoryShare]:
    """With whom it is shared: for who may share it. The newest first."""
    return _shares().filter(repository=repository)


def received_shares(actor: Actor) -> QuerySet[RepositoryShare]:
    """What other organisations share with the actor's, the newest first.

    Who manages its images also sees what was declined, and what does not count now.
    """
    actor.require(Permission.IMAGES_USE)
    rows = _shares().filter(receiver_id=actor.organisation())
    if not actor.may(Permission.IMAGES_MANAGE):
        rows = rows.filter(pk__in=rights.received(actor.organisation()).values("pk"))
    return rows


def received_share(actor: Actor, share_id: UUID) -> RepositoryShare:
    """Raises `NotFound`."""
    found: RepositoryShare | None = received_shares(actor).filter(pk=share_id).first()
    if found is None:
        raise NotFound
    return found


def share_under(actor: Actor, repository: ImageRepository) -> RepositoryShare | None:
    """By which the actor may pull a repository that is not of their organisation."""
    found: RepositoryShare | None = rights.received(actor.organisation_id).filter(repository=repository).first()
    return found


def state_of(share: RepositoryShare) -> ShareState:
    """Of a row that was read here."""
    if share.declined_at is not None:
        return ShareState.DECLINED
    if share.over:  # type: ignore[attr-defined]  # an annotation
        return ShareState.ENDED
    sides = (share.receiver.status, share.repository.organisation.status)
    if not rights.is_allowed() or any(status != OrganisationStatus.ACTIVE for status in sides):
        return ShareState.RESTING
    return ShareState.ACTIVE
