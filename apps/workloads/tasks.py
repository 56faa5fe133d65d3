"""The kernel's loops as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.workloads import gpu_idleness, longest, services
from apps.workloads.hardware import (
    black_holes,
    card_watch,
    cluster_doctor,
    discovery,
    drains,
    kubernetes_zones,
    lost,
    silence,
    simulation,
    sources,
)
from apps.workloads.hardware import watch as watching
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.reconcile.schedule import run_pass

_starting = iter([True])
"""The first pass of this process asks the platform's own machine, whatever it said before the start."""


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


@shared_task(name="workloads.enforce_run_times")
def enforce_run_times() -> None:
    """The longest run time is over, or the cards have stood idle for as long as the owner allows."""
    with acting(system_actor()) as actor:
        longest.enforce_longest(actor)
        gpu_idleness.enforce_gpu_idleness(actor)


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
        watching.watch_storage(actor)
        card_watch.watch_cards(actor)
        silence.declare_silent_nodes_lost(actor)
        lost.advance(actor)
        lost.readmit_returned_nodes(actor)
        black_holes.try_again(actor)


@shared_task(name="workloads.probe_sources")
def probe_sources() -> None:
    with acting(system_actor()) as actor:
        sources.probe_due(actor, starting=next(_starting, False))


@shared_task(name="workloads.discover")
def discover() -> None:
    """See what there is on the machines that drivers find by themselves."""
    discovery.sweep_partitions()
    with acting(system_actor()) as actor:
        discovery.discover(actor)


@shared_task(name="workloads.examine_clusters")
def examine_clusters() -> None:
    with acting(system_actor()):
        cluster_doctor.examine_due()


@shared_task(name="workloads.discover_clusters")
def discover_clusters() -> None:
    """See what clusters tell of their nodes."""
    with acting(system_actor()):
        kubernetes_zones.discover_all()
