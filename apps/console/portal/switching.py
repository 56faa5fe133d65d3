"""Going on with another package, whatever it is that waits: each kind of work has its own way to do so."""

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.workloads.kinds import kind_of
from apps.workloads.models import Workload


def start_instead(actor: Actor, workload: Workload, *, package_id: int, key: str) -> Workload:
    """The workload that starts in the place of one that waits; see the kinds' own services for what it raises."""
    way = kind_of(workload).start_instead
    if way is None:
        raise Conflict(_("It does not wait any more."))
    return way(actor, workload, package_id, key)
