"""Reading environments, as far as the actor may."""

from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.envs.models import Environment


def environments(actor: Actor) -> QuerySet[Environment]:
    """One's own, those of the organisation for who manages them, all for the platform's staff; newest first."""
    rows: QuerySet[Environment] = Environment.objects.select_related(
        "workload__package", "workload__price_version", "owner", "image", "package", "cpu_package", "home"
    )
    if actor.platform:
        actor.require(Permission.PLATFORM_WORKLOADS_VIEW)
        rows = rows.select_related("organisation")
    else:
        actor.require(Permission.ENVIRONMENTS_VIEW)
        if not actor.may(Permission.ENVIRONMENTS_MANAGE_ALL):
            rows = rows.filter(owner_id=actor.user_id)
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, environment_id: UUID) -> Environment:
    """One visible environment, in the bin or not; `NotFound` otherwise."""
    found = environments(actor).filter(pk=environment_id).first()
    if found is None:
        raise NotFound
    return found


def by_code(code: str) -> Environment | None:
    """The environment that an SSH user name means; the caller decides who may come in. None for one in the bin."""
    found: Environment | None = (
        Environment.objects.select_related("workload", "owner", "organisation", "home")
        .filter(code=code, deleted_at__isnull=True)
        .first()
    )
    return found
