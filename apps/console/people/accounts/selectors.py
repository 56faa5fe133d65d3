"""Accounts across all organisations."""

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.tenants.models import Membership, PlatformAssignment, User


def people(actor: Actor, *, staff: bool = False) -> "QuerySet[User]":
    """Every account with its memberships and platform roles; `staff`: those with a role on the platform."""
    actor.require(Permission.PLATFORM_SECURITY_VIEW if staff else Permission.PLATFORM_TENANTS_VIEW)
    homes = Membership.objects.select_related("organisation", "own_role", "department").order_by("organisation__name")
    roles = PlatformAssignment.objects.select_related("defined").order_by("role", "pk")
    rows = User.objects.prefetch_related(Prefetch("memberships", homes), Prefetch("platform_assignments", roles))
    if staff:
        rows = rows.filter(Exists(PlatformAssignment.objects.filter(user=OuterRef("pk"))))
    return rows


def person(actor: Actor, user_id: int) -> User:
    """One account; of the staff's, also for who may see the staff only."""
    staff = not actor.may(Permission.PLATFORM_TENANTS_VIEW)
    found = people(actor, staff=staff).filter(pk=user_id).first()
    if found is None:
        raise NotFound
    return found
