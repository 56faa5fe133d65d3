"""Going on with another package, whatever it is that waits: each kind of work has its own way to do so."""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.envs.models import Environment
from apps.envs.services import switching as environments
from apps.training import switching as training
from apps.training.models import Run
from apps.workloads.choices import Kind
from apps.workloads.models import Workload


def start_instead(actor: Actor, workload: Workload, *, package_id: int, key: str) -> Workload:
    """The workload that starts in the place of one that waits; see the kinds' own services for what it raises."""
    return _WAYS[Kind(workload.kind)](actor, workload, package_id, key)


def _training(actor: Actor, workload: Workload, package_id: int, key: str) -> Workload:
    run: Run = Run.objects.select_related("workload", "code").get(workload=workload)
    return training.start_instead(actor, run, package_id=package_id, key=key).workload


def _environment(actor: Actor, workload: Workload, package_id: int, key: str) -> Workload:
    """An environment knows its newest start only: what waited before has ended."""
    environment: Environment | None = Environment.objects.select_related("workload").filter(workload=workload).first()
    started = environments.start_instead(actor, environment, package_id=package_id) if environment else None
    if started is None or started.workload is None:
        raise Conflict(_("It does not wait any more."))
    return started.workload


_WAYS: Mapping[Kind, Callable[[Actor, Workload, int, str], Workload]] = {
    Kind.TRAINING: _training,
    Kind.ENVIRONMENT: _environment,
}
