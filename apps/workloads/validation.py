"""Requests that contradict themselves are refused when they are submitted; what only has no room today may wait."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.clusters.models import LogicalCluster
from apps.common.errors import Invalid
from apps.workloads.requested import make_task
from apps.workloads.spec import Spec
from scheduler.validate import problem_with


def refuse_nonsense(spec: Spec) -> None:
    """Raise `Invalid` naming the field: numbers that mean nothing, models that exclude each other, a cluster elsewhere.

    A model that no machine has, or more than any machine has, is no contradiction: machines come and go. Of those the
    quote says so before the launch, and the queue while the work waits.
    """
    task = make_task(spec, id="asked", organisation="", department="", user="", priority=3, submitted_at=0.0)
    problem = problem_with(task)
    if problem is not None:
        raise Invalid.field(str(problem.params["field"]), _("This is not an amount that work can ask for."))
    if spec.gpu is not None and spec.gpu.model and spec.gpu.any_of and spec.gpu.model not in spec.gpu.any_of:
        raise Invalid.field("gpu.model", _("The model is not among those that it says will do."))
    if spec.cluster is not None:
        _must_be_in(spec, spec.cluster)


def _must_be_in(spec: Spec, cluster: str) -> None:
    found = LogicalCluster.objects.select_related("zone").filter(pk=_id(cluster)).first()
    if found is None or found.zone.removed_at is not None:
        raise Invalid.field("cluster", _("There is no such logical cluster."))
    if spec.zone not in (None, str(found.zone_id)):
        raise Invalid.field("cluster", _("This logical cluster is not in the zone that the package is for."))
    if found.zone.simulated != spec.simulated:
        raise Invalid.field("cluster", _("Real work runs on real machines, simulated work on simulated ones."))


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid.field("cluster", _("There is no such logical cluster.")) from error
