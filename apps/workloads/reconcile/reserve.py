"""Machines that cannot keep organisations apart, as a pass deals with them: they serve the trusted one alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import scheduler
from apps.clusters.models import Node
from apps.workloads.isolation import reserved_nodes, trusted_organisation


@dataclass(frozen=True, slots=True)
class Reserve:
    """`refused`: tasks that may use no machine of their world; `closed`: nodes on which this pass places nothing."""

    refused: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()


def reserve(waiting: Sequence[scheduler.Task], *, simulated: bool) -> Reserve:
    """Where other machines are there too, unisolated ones take nothing while anybody else's work waits.

    The scheduler knows no nodes of one organisation, so this keeps others off them whatever it decides.
    """
    reserved = reserved_nodes()
    trusted = str(trusted_organisation()) if reserved else ""
    strangers = frozenset(task.id for task in waiting if task.organisation != trusted) if reserved else frozenset()
    if not strangers:
        return Reserve()
    here = Node.objects.filter(cluster__zone__simulated=simulated)
    if here.exclude(pk__in=reserved).exists():
        return Reserve(closed=frozenset(str(pk) for pk in reserved))
    return Reserve(refused=strangers) if here.exists() else Reserve()
