"""Reading secrets: what they are called, never what they are."""

from collections.abc import Collection
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils.module_loading import import_string

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission as P
from apps.secrets.models import Secret
from apps.secrets.uses import FindUses, Use
from apps.tenants import tree


def usable(actor: Actor) -> QuerySet[Secret]:
    """What the actor may give to work of their own: their secrets, and the organisation's that are open to them."""
    actor.require(P.SECRETS_USE)
    mine = Q(owner_id=actor.person())
    return _rows(actor).filter(mine | _open_to(tree.ancestors(actor.department_id)))


def visible(actor: Actor) -> QuerySet[Secret]:
    """What the actor may see the name of: what they use, and all of the organisation's where they manage those."""
    if not actor.may(P.SECRETS_MANAGE):
        return usable(actor)
    return _rows(actor).filter(Q(owner_id=actor.person()) | Q(owner__isnull=True))


def get(actor: Actor, secret_id: UUID) -> Secret:
    """Raises `NotFound`, also for another person's."""
    found = visible(actor).select_related("department", "created_by").filter(pk=secret_id).first()
    if found is None:
        raise NotFound
    return found


def may_change(actor: Actor, secret: Secret) -> bool:
    """Its owner changes a personal secret; who manages secrets changes the organisation's."""
    if secret.owner_id is None:
        return actor.may(P.SECRETS_MANAGE)
    return secret.owner_id == actor.user_id and actor.may(P.SECRETS_USE)


def uses(secret: Secret) -> list[Use]:
    """What names the secret: work that has not ended, and what will start again."""
    found: list[Use] = []
    for path in settings.SECRET_USES:
        find: FindUses = import_string(path)
        found += find(secret.pk)
    return found


def _open_to(departments: Collection[UUID]) -> Q:
    return Q(owner__isnull=True) & (Q(department__isnull=True) | Q(department__in=departments))


def _rows(actor: Actor) -> QuerySet[Secret]:
    """The sealed values stay where they are."""
    rows: QuerySet[Secret] = Secret.objects.filter(organisation_id=actor.organisation()).defer("sealed")
    return rows.order_by(F("owner").asc(nulls_last=True), "name")
