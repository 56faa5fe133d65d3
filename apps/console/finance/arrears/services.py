"""Release of data: move an organisation's stored data to the recycle bin, never further.

There it stays restorable for as long as anything in the bin does; a top-up ends the state, and its people restore what
they want. Images, finished runs and their outputs are left where they are.
"""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing import selectors as funds
from apps.billing.arrears.settings import ArrearsSettings
from apps.billing.models import ArrearsState
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.permissions import Permission
from apps.envs.models import Environment
from apps.envs.services import recycle_bin
from apps.notifications.services import notify_organisation
from apps.storage import datasets, volumes
from apps.storage.models import Dataset, Volume
from apps.tenants import settings


def release_data(actor: Actor, *, organisation_id: UUID) -> int:
    """Move its volumes, datasets and environments to the recycle bin; returns how many. Repeated: the rest.

    `Conflict` unless its time for topping up has passed. Objects in use are left for the next call.
    """
    actor.require(Permission.PLATFORM_STORAGE_MANAGE)
    actor.require(Permission.PLATFORM_WORKLOADS_MANAGE)
    state: ArrearsState | None = ArrearsState.objects.select_related("organisation").filter(pk=organisation_id).first()
    if state is None:
        raise NotFound
    _refuse_unless_released(organisation_id)
    count = sum(_move_to_bin(actor, organisation_id, rows, delete) for rows, delete in _stored_data(organisation_id))
    if count:
        record(
            actor,
            action="billing.data_released",
            target=Target("organisation", str(organisation_id), state.organisation.name),
            organisation_id=organisation_id,
            after={"count": count},
        )
        dedup = f"binned:{organisation_id}:{state.changes}"
        notify_organisation(organisation_id=organisation_id, kind="billing.binned", data={"count": count}, dedup=dedup)
    return count


def release_due(actor: Actor) -> int:
    """Release data of due organisations if the settings say so; returns how many objects were moved."""
    if not settings.get(ArrearsSettings).deletes:
        return 0
    return sum(release_data(actor, organisation_id=each) for each in sorted(funds.released_organisation_ids()))


def _refuse_unless_released(organisation_id: UUID) -> None:
    if organisation_id not in funds.released_organisation_ids():
        raise Conflict(_("Its data is not released: it may still top up, or has."))


def _stored_data(organisation_id: UUID) -> list[tuple[Iterable[Any], Callable[[Actor, Any], None]]]:
    """Environments first, because they mount the others."""
    here = {"organisation_id": organisation_id, "deleted_at__isnull": True}
    return [
        (Environment.objects.filter(**here).select_related("workload", "home"), recycle_bin.delete),
        (Volume.objects.filter(**here), volumes.delete),
        (Dataset.objects.filter(**here), datasets.delete),
    ]


def _move_to_bin(actor: Actor, organisation_id: UUID, rows: Iterable[Any], delete: Callable[[Actor, Any], None]) -> int:
    """Check the state before each object: a top-up may come at any moment, and then the rest stays."""
    gone = 0
    for thing in rows:
        if organisation_id not in funds.released_organisation_ids():
            break
        try:
            delete(actor, thing)
        except DomainError:  # in use
            continue
        gone += 1
    return gone
