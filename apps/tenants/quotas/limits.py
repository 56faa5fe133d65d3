"""Setting limits: the platform for organisations, an organisation's people for its departments and members."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.tenants.authority import rank_of
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Department, Membership, Quota
from apps.tenants.quotas.amounts import line_words
from apps.tenants.quotas.book import lock
from apps.tenants.roles import RANKS

LIMIT_MAX = 10**15


def set_limit(
    actor: Actor,
    *,
    organisation_id: UUID,
    resource: Resource,
    limit: int | None,
    model: str = "",
    department_id: UUID | None = None,
    user_id: int | None = None,
) -> None:
    """Limit one level (None lifts the limit), `model`: for one accelerator model. Nothing that runs is ended by it."""
    _may_limit(actor, organisation_id, whole=department_id is None and user_id is None)
    _check(resource, limit, model)
    _must_belong(organisation_id, department_id, user_id)
    if user_id is not None:
        _must_stand_above(actor, organisation_id, user_id)
    key = {
        "organisation_id": organisation_id,
        "department_id": department_id,
        "user_id": user_id,
        "resource": resource,
        "model": model,
    }
    with transaction.atomic():
        lock(organisation_id)
        Quota.objects.bulk_create([Quota(**key)], ignore_conflicts=True)
        row = Quota.objects.select_for_update().get(**key)
        before, row.limit = row.limit, limit
        row.save(update_fields=["limit"])
        record(
            actor,
            action="quota.limited",
            organisation_id=organisation_id,
            target=Target("quota", str(row.pk), str(line_words(resource, model))),
            before={"limit": before},
            after={"limit": limit},
        )


def _may_limit(actor: Actor, organisation_id: UUID, *, whole: bool) -> None:
    """The platform limits organisations; an organisation's admin divides that among departments and people."""
    if actor.platform:
        actor.require(Permission.PLATFORM_TENANTS_MANAGE)
        return
    actor.require(Permission.QUOTAS_MANAGE)
    if organisation_id != actor.organisation_id:
        raise NotFound
    if whole:
        raise Denied(Permission.PLATFORM_TENANTS_MANAGE)


def _must_stand_above(actor: Actor, organisation_id: UUID, user_id: int) -> None:
    """Administrators may limit everybody; others who manage quotas only people of lower rank, so not themselves."""
    rank = rank_of(actor, organisation_id)
    member = Membership.objects.get(organisation_id=organisation_id, user_id=user_id)
    if rank < RANKS[Role.ADMIN] and rank <= RANKS[member.role]:
        raise Conflict(_("You can limit only people of a lower rank than your own."))


def _check(resource: Resource, limit: int | None, model: str) -> None:
    if limit is not None and limit < 0:
        raise Invalid.field("limit", _("A limit cannot be negative."))
    if limit is not None and limit > LIMIT_MAX:
        raise Invalid.field("limit", _("This is more than any platform has. Leave it empty for no limit."))
    if model and resource is not Resource.GPU_MILLI:
        raise Invalid.field("model", _("Only GPU cards are limited by model."))
    if len(model) > 60:
        raise Invalid.field("model", _("The name of a model has at most 60 characters."))


def _must_belong(organisation_id: UUID, department_id: UUID | None, user_id: int | None) -> None:
    if department_id is not None and user_id is not None:
        raise Invalid(_("A limit is a department's or a person's, not both."))
    if department_id is not None:
        found = Department.objects.filter(pk=department_id, organisation_id=organisation_id)
    elif user_id is not None:
        found = Membership.objects.filter(user_id=user_id, organisation_id=organisation_id)
    else:
        return
    if not found.exists():
        raise NotFound
