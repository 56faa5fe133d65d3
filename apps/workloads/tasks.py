"""The kernel's loops as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.workloads import services
from apps.workloads.hardware import discovery, drains, lost, silence, simulation
from apps.workloads.hardware import watch as watching
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.reconcile.schedule import run_pass


@shared_task(name="workloads.schedule")
def schedule() -> None:
    with acting(system_actor()) as actor:
        run_pass(actor)


@shared_task(name="workloads.reconcile")
def reconcile() -> None:
    with acting(system_actor()) as actor:
        reconcile_due(actor)


@shared_task(name="workloads.enforce_arrears")
def enforce_arrears() -> None:
    with acting(system_actor()) as actor:
        services.enforce_arrears(actor)
        services.enforce_prepaid_ends(actor)


@shared_task(name="workloads.enforce_caps")
def enforce_caps() -> None:
    with acting(system_actor()) as actor:
        services.enforce_caps(actor)


@shared_task(name="workloads.simulate")
def simulate() -> None:
    with acting(system_actor()) as actor:
        simulation.beat(actor, simulation.isolation())


@shared_task(name="workloads.watch")
def watch() -> None:
    """Drains go on, silences are told and counted, lost machines let go of their work."""
    with acting(system_actor()) as actor:
        drains.advance(actor)
        watching.watch(actor)
        watching.watch_disks(actor)
        silence.listen(actor)
        lost.advance(actor)
        lost.receive_back(actor)


@shared_task(name="workloads.discover")
def discover() -> None:
    """See what there is on the machines that drivers find by themselves."""
    discovery.sweep_partitions()
    with acting(system_actor()) as actor:
        discovery.discover(actor)
