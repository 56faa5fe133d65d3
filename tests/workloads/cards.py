"""A machine with cards and packages on them, for tests of what waits and why."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.choices import GpuMode
from apps.billing.models import Package
from apps.clusters.models import Accelerator, Node
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.training.choices import KIND as TRAINING
from apps.workloads import services as workloads
from apps.workloads.choices import Kind, Status
from apps.workloads.models import Workload
from apps.workloads.offers.quoting import resources_of
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import World, make_node, make_world, platform, unique

MEMORY_MIB = 81_920


def world_of_cards(cards: int, model: str = "H200", balance_fen: int = 1_000_000) -> World:
    """An organisation with money, and one machine with so many cards and nothing else."""
    world = make_world(balance_fen=balance_fen)
    Node.objects.all().delete()
    make_gpu_node(cards=cards, model=model)
    return world


def make_gpu_node(cards: int = 4, name: str = "gpu-a01", model: str = "H200", mode: str = "whole") -> Node:
    node = make_node(cpu_milli=64_000, memory_mib=262_144, name=name)
    for index in range(cards):
        Accelerator.objects.create(
            node=node,
            index=index,
            uuid=f"GPU-{uuid4().hex}",
            vendor="nvidia",
            model=model,
            memory_mib=MEMORY_MIB,
            mode=mode,
            healthy=True,
        )
    return node


def make_gpu_package(
    count: int = 1, model: str = "H200", rate_fen: int = 360, mode: GpuMode = GpuMode.WHOLE, memory_mib: int = 0
) -> Package:
    name = unique(f"{count} x {model}")
    spec = billing.PackageSpec(
        name_en=name,
        name_zh=name,
        cpu_milli=1000,
        memory_mib=512,
        gpu_count=count,
        gpu_model=model,
        gpu_mode=mode,
        gpu_memory_mib=memory_mib,
        gpu_core_milli=500 if mode is GpuMode.VGPU else 0,
    )
    return billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(rate_fen))


def submit_on(
    actor: Actor, package: Package, name: str = "run", kind: Kind = TRAINING, cluster: UUID | None = None, **spec: Any
) -> Workload:
    """Queued, as its owner; `cluster`: the only one that it may run in. `spec`: what else is asked for."""
    with acting(actor):
        quote = funds.quote(actor, package_id=package.pk)
        return workloads.submit(
            actor,
            workloads.Submission(
                kind=kind,
                name=name,
                spec=replace(resources_of(package), cluster=cluster and str(cluster), **spec),
                package_id=package.pk,
                price_version_id=quote.price_version_id,
                key=uuid4().hex,
                id=uuid4(),
            ),
        )


def scheduled(workload: Workload) -> Workload:
    """The workload after one pass over everything."""
    with acting(platform()):
        run_pass(platform())
        return Workload.objects.select_related("owner", "package", "price_version", "organisation").get(pk=workload.pk)


def some_have_ended(like: Workload) -> None:
    """Enough runs of an hour, to learn from: copies of this one."""
    now, template = db_now(), Workload.objects.get(pk=like.pk)
    for number in range(12):
        template.pk = UUID(int=number + 1)
        template.submit_key, template.status = f"ended-{number}", Status.SUCCEEDED
        template.started_at, template.ended_at = now - timedelta(minutes=90), now - timedelta(minutes=30)
        template.save(force_insert=True)
