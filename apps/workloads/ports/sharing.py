"""Who besides its owner opens a port: everybody of the organisation, from when the owner says so until they take it
back or the work ends.
"""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.workloads.models import SharedPort, Workload
from apps.workloads.permissions import may_open_port, may_share_port
from apps.workloads.reach import port_named
from apps.workloads.spec import Port


def openable(actor: Actor, workload_id: UUID, name: str) -> tuple[Workload, Port]:
    """A workload and a port of it that the actor may open, the first one without a name. `NotFound`, `Denied`."""
    workload = of_organisation(actor, workload_id)
    port = port_named(workload, name)
    may_open_port(actor, workload, port.name)
    return workload, port


def of_organisation(actor: Actor, workload_id: UUID) -> Workload:
    """Whether the actor sees it or not: what may be opened of it is to be asked. Raises `NotFound`."""
    workload: Workload | None = Workload.objects.filter(pk=workload_id, organisation_id=actor.organisation()).first()
    if workload is None:
        raise NotFound
    return workload


@transaction.atomic
def set_shared(actor: Actor, workload_id: UUID, name: str, *, shared: bool) -> Workload:
    """Let everybody of the organisation open a port of the actor's own, or nobody but them again.

    Streams that are open end within seconds of that. Raises `NotFound` for anybody but the owner and for ports that are
    not their own, such as those of tools, which act in the owner's name; `Conflict` for work that has ended.
    """
    workload = of_organisation(actor, workload_id)
    may_share_port(actor, workload)
    port = port_named(workload, name) if name else None
    if port is None or not port.own:
        raise NotFound
    if shared and not workload.is_live:
        raise Conflict(_("It has ended, and its ports with it."))
    if _write(actor, workload, port, shared):
        record(
            actor,
            action="port.shared" if shared else "port.unshared",
            target=Target("workload", str(workload.pk), workload.name),
            organisation_id=workload.organisation_id,
            after={"port": port.name, "number": port.number, "rank": port.rank},
        )
    return workload


def _write(actor: Actor, workload: Workload, port: Port, shared: bool) -> bool:
    """Whether anything has changed."""
    if shared:
        _row, is_new = SharedPort.objects.get_or_create(
            workload=workload,
            port=port.name,
            defaults={"organisation_id": workload.organisation_id, "shared_by_id": actor.person()},
        )
        return bool(is_new)
    return bool(SharedPort.objects.filter(workload=workload, port=port.name).delete()[0])


def shared_names(workload: Workload) -> set[str]:
    """Of the ports that are shared now."""
    return (
        set(SharedPort.objects.filter(workload=workload).values_list("port", flat=True)) if workload.is_live else set()
    )
