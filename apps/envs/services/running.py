"""Starting and stopping: each start is a workload of its own, with its own price version and its own bill."""

from dataclasses import asdict, replace
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.envs import program, states
from apps.envs.choices import KIND, Step
from apps.envs.models import Environment
from apps.envs.permissions import require_manage, require_own
from apps.envs.services import secrets
from apps.envs.services.mounts import resolve
from apps.envs.services.shared import launch_of, locked, log, refuse_binned, refuse_busy, tell_pages
from apps.storage.disk import require_free_space
from apps.workloads import services as workloads
from apps.workloads.choices import Reason, Status
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.offers.package_options import interchangeable_packages
from apps.workloads.placing import read_zones
from apps.workloads.time_limits import carried

KEEP = timedelta(hours=1)


def start(actor: Actor, environment: Environment) -> Environment:
    """Queue the next start. One that is queued, starting or running already is returned as it is.

    Raises `Conflict` (in the bin, expired, still stopping, another operation under way), `QuotaExceeded`,
    `InsufficientFunds`, `Unavailable`.
    """
    require_own(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        if row.workload is not None and row.workload.is_live:
            if row.workload.status == Status.STOPPING:
                raise Conflict(_("It is still stopping."), hint=_("Start it again in a moment."))
            return row
        _refuse(row)
        refuse_busy(row)
        return submit(actor, row)


def _refuse(environment: Environment) -> None:
    refuse_binned(environment)
    if environment.expires_at is not None and environment.expires_at <= db_now():
        raise Conflict(_("Its time has run out."), hint=_("Renew it, then start it again."))
    require_free_space()


def submit(actor: Actor, environment: Environment) -> Environment:
    """The workload of the next start; call with the row locked, as its owner."""
    wanted = environment.cpu_package if environment.without_gpu and environment.cpu_package else environment.package
    package = choose_package(actor, wanted.pk)
    mounts, given = resolve(actor, environment.mounts), secrets.resolve(actor, environment.secrets)
    spec = program.spec_of(environment, package, mounts, given)
    # The number of the start: whoever repeats it gets the workload that is there.
    launch = launch_of(environment, key=f"env-{environment.pk.hex}-{environment.starts + 1}")
    times = carried(actor.organisation(), KIND, launch.times)
    launch = replace(launch, also_ids=_also(actor, environment, package), **asdict(times))
    workload = workloads.submit(actor, submission(actor, KIND, spec, package, launch))
    environment.workload = workload
    environment.starts += 1
    environment.keep_until = None
    environment.save(update_fields=["workload", "starts", "keep_until"])
    tell_pages(environment)
    return environment


def _also(actor: Actor, environment: Environment, package: Package) -> tuple[int, ...]:
    """What is still on offer of the packages that would do as well; it can always start on its own."""
    if package.pk != environment.package_id or not environment.also_packages:
        return ()
    offered = list(funds.packages(actor).filter(pk__in=environment.also_packages))
    read_zones([package, *offered])
    return tuple(each.pk for each in interchangeable_packages(package, offered))


def stop(actor: Actor, environment: Environment, *, snapshot: bool = False, why: Reason = Reason.BY_PERSON) -> None:
    """End what runs; the files stay. With `snapshot`, they are saved first and it stops when that is done."""
    require_manage(actor, environment)
    with transaction.atomic():
        row = locked(environment)
        live_workload(row)
        if snapshot:
            states.begin(row, Step.STOP, by_id=actor.user_id)
            log(actor, row, "stop_after_snapshot")
            tell_pages(row)
            return
        stop_workload(actor, row, why)


def stop_workload(actor: Actor, environment: Environment, why: Reason) -> None:
    """Ask the newest workload to end; nothing where it has ended already."""
    if environment.workload is not None and environment.workload.is_live:
        workloads.stop(actor, environment.workload, why)


def live_workload(environment: Environment) -> Workload:
    if environment.workload is None or not environment.workload.is_live:
        raise Conflict(_("It does not run."))
    return environment.workload


def keep(actor: Actor, environment: Environment) -> None:
    """Not idle for the next hour, whatever is measured."""
    require_manage(actor, environment)
    live_workload(environment)
    until = db_now() + KEEP
    Environment.objects.filter(pk=environment.pk).update(keep_until=until)
    log(actor, environment, "kept", after={"until": until.isoformat()})
    tell_pages(environment)
