"""Requests that contradict themselves are refused when they are submitted; what only has no room today may wait."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.clusters.rights import usable_by
from apps.common.errors import Invalid
from apps.workloads.requested import make_task
from apps.workloads.spec import MOST_MEMBERS, Spec
from scheduler.validate import problem_with


def refuse_nonsense(spec: Spec, organisation_id: UUID) -> None:
    """Raise `Invalid` naming the field: numbers that mean nothing, models that exclude each other, a cluster elsewhere
    or of others.

    A model that no machine has, or more than any machine has, is no contradiction: machines come and go. Of those the
    quote says so before the launch, and the queue while the work waits.
    """
    if not 1 <= spec.members <= MOST_MEMBERS:
        raise Invalid.field("members", _("From 1 to %(most)s members.") % {"most": MOST_MEMBERS})
    if spec.least_members is not None and not 1 <= spec.least_members <= spec.members:
        raise Invalid.field("least_members", _("From 1 to the number of all members."))
    if spec.ranks and len(spec.ranks) != spec.members:
        raise ValueError("each member needs its own start, or none has one")
    task = make_task(spec, id="asked", organisation="", department="", user="", priority=3, submitted_at=0.0)
    problem = problem_with(task)
    if problem is not None:
        raise Invalid.field(str(problem.params["field"]), _("This is not an amount that work can ask for."))
    if spec.gpu is not None and spec.gpu.model and spec.gpu.any_of and spec.gpu.model not in spec.gpu.any_of:
        raise Invalid.field("gpu.model", _("The model is not among those that it says will do."))
    if spec.cluster is not None:
        _must_be_in(spec, spec.cluster, organisation_id)


def _must_be_in(spec: Spec, cluster: str, organisation_id: UUID) -> None:
    found = usable_by(organisation_id).select_related("zone").filter(pk=_id(cluster)).first()
    if found is None:
        # The same for one that is reserved for others, so that nobody learns that it exists.
        raise Invalid.field("cluster", _("Your organisation has no such logical cluster. Choose another one."))
    if spec.zone not in (None, str(found.zone_id)):
        raise Invalid.field("cluster", _("This logical cluster is not in the zone that the package is for."))
    if found.zone.simulated != spec.simulated:
        raise Invalid.field("cluster", _("Real work runs on real machines, simulated work on simulated ones."))


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid.field(
            "cluster", _("Your organisation has no such logical cluster. Choose another one.")
        ) from error
