"""Toys in several copies, on simulated machines with a card each or on this one."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from apps.billing.models import Package
from apps.clusters import services as clusters
from apps.clusters.models import Accelerator, Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads import nodes
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.launching.request import Launch
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.offers.quoting import resources_of
from apps.workloads.replicas import selectors as sets
from apps.workloads.replicas import services as replicas
from apps.workloads.spec import Image
from tests.builders import World, platform
from tests.kinds.toy.kind import KIND
from tests.workloads.loops import tick

PACKAGE = "H100 whole card (simulated)"


def simulated_machines(count: int = 3) -> list[Node]:
    """So many nodes with one good card each, in a zone that is billed."""
    zone = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
    zone.billed = True
    zone.save()
    clusters.offer_packages(platform(), zone_id=zone.pk)
    first = Node.objects.get(name="sim-h100")
    first.accelerators.exclude(index=0).update(healthy=False)
    Node.objects.filter(cluster__zone=zone).exclude(pk=first.pk).update(status="cordoned")
    return [first, *(_twin(first, number) for number in range(2, count + 1))]


def _twin(first: Node, number: int) -> Node:
    twin = Node.objects.get(pk=first.pk)
    twin.pk, twin.name, twin._state.adding = uuid4(), f"{first.name}-{number}", True
    twin.save()
    card = Accelerator.objects.get(node=first, index=0)
    card.pk, card.node, card.uuid, card._state.adding = uuid4(), twin, f"SIM-twin-{number}", True
    card.save()
    return twin


def serve(
    world: World,
    wanted: int = 3,
    *,
    argv: tuple[str, ...] = ("sleep", "600"),
    package: Package | None = None,
    cap_fen: int | None = None,
    key: str = "",
    **changes: Any,
) -> ReplicaSet:
    """A set of toys, submitted by Alice."""
    package = package or Package.objects.get(name_en=PACKAGE)
    with acting(world.actor):
        launch = Launch(
            name="band", image_id=world.image.pk, package_id=package.pk, key=key or uuid4().hex, cap_fen=cap_fen
        )
        chosen = choose_package(world.actor, package.pk)
        spec = replace(
            resources_of(chosen),
            image=Image(world.image.key, tuple(world.image.requirements)),
            argv=argv,
            workdir="/workspace",
            **changes,
        )
        return replicas.submit(world.actor, submission(world.actor, KIND, spec, chosen, launch), wanted=wanted)


def summed(found: ReplicaSet) -> sets.Summary:
    found.refresh_from_db()
    return sets.summary(found)


def until_set(found: ReplicaSet, condition: Callable[[sets.Summary], bool], timeout_s: float = 60.0) -> sets.Summary:
    """Turn the loops until `condition(summary)`; fails after `timeout_s`."""
    end = time.monotonic() + timeout_s
    while not condition(seen := summed(found)):
        rows = list(Workload.objects.filter(replica_set=found).values_list("name", "status", "reason", "reason_data"))
        assert time.monotonic() < end, f"still {seen}: {rows}"
        tick()
        time.sleep(0.1)
    return seen


def all_serve(found: ReplicaSet) -> Callable[[sets.Summary], bool]:
    return lambda seen: seen.serving == found.wanted == seen.wanted and not seen.leaving


def live(found: ReplicaSet) -> dict[int, Workload]:
    """By number, those that have not ended."""
    return {each.index: each.workload for each in sets.replicas(found)}


def newest(workload: Workload) -> Attempt:
    return Attempt.objects.select_related("workload", "node").filter(workload=workload).latest("number")


def kill(workload: Workload) -> Attempt:
    """Its program dies, as if something had killed it on its machine."""
    attempt = newest(workload)
    nodes.driver_named("simulated").stop(Handle.from_dict(attempt.handle or {}), 0.0)
    return attempt


def no_pause() -> None:
    Workload.objects.filter(status=Status.QUEUED).update(queued_at=db_now() - timedelta(seconds=1))
