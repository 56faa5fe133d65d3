"""Switch a waiting environment to a package on which it starts now, in one step."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.envs.models import Environment
from apps.envs.permissions import require_own
from apps.envs.services import running
from apps.envs.services.shared import locked, log, refuse_binned, refuse_busy
from apps.workloads.launching.submission import choose_package
from apps.workloads.models import Workload
from apps.workloads.offers.switching import give_up_place, refuse_unless_it_starts, take_place


def start_instead(actor: Actor, environment: Environment, *, package_id: int) -> Environment:
    """Change the package of an environment that waits, and start it there at once; its files are not touched.

    Does nothing if it is on that package already. Raises `Conflict` (it started, or the package would not start it
    now), `Invalid`, `QuotaExceeded`, `InsufficientFunds`: then it waits on, in its place.
    """
    require_own(actor, environment)
    package = choose_package(actor, package_id)
    waiting = _waiting(environment)
    if waiting.package_id == package.pk:
        return environment
    refuse_unless_it_starts(actor, waiting, package)
    with transaction.atomic():
        row = locked(environment)
        refuse_binned(row)
        refuse_busy(row)
        before = _waiting(row)
        give_up_place(actor, before)
        columns = _columns(row, package)
        Environment.objects.filter(pk=row.pk).update(**columns)
        log(actor, row, "changed", before={name: getattr(row, name) for name in columns}, after=columns)
        started = running.submit(actor, locked(environment))
        if started.workload is not None:
            take_place(started.workload, before)
        return started


def _waiting(environment: Environment) -> Workload:
    if environment.workload is None or not environment.workload.is_live:
        raise Conflict(_("It does not wait any more."), hint=_("Look at the page again: it may have started."))
    return environment.workload


def _columns(row: Environment, package: Package) -> dict[str, Any]:
    """An environment without a GPU stays without one, unless the new package has one."""
    if row.without_gpu and not package.gpu_count:
        return {"cpu_package_id": package.pk}
    return {"package_id": package.pk, "without_gpu": False, "also_packages": []}
