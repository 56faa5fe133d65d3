"""A queue to look at: cards, what waits for them and what holds them, as the scheduler would leave them."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db.models import F
from django.utils import timezone

from apps.clusters.models import Accelerator, Node
from apps.common.scoping import acting
from apps.tenants.models import Guarantee, Organisation
from apps.workloads import states
from apps.workloads.choices import PreemptionWhy
from apps.workloads.models import Attempt, Placement, Preemption, SchedulerEpoch, Workload
from apps.workloads.spec import Gpu
from tests.builders import World, make_world, platform, submit_workload

CARD = "H200"


def in_reach() -> None:
    """All machines are heard from, and large enough for what the tests run."""
    Node.objects.update(last_seen_at=timezone.now(), cpu_milli=64_000, memory_mib=262_144)


def make_card(node: Node, index: int, model: str = CARD, mode: str = "whole") -> Accelerator:
    return Accelerator.objects.create(
        node=node,
        uuid=f"GPU-{uuid4()}",
        index=index,
        vendor="nvidia",
        model=model,
        memory_mib=81_920,
        mode=mode,
    )


def waits(world: World, name: str = "run", *, count: int = 1, cause: str = "devices", **explained: Any) -> Workload:
    """Something that waits for whole cards, with the scheduler's word on it."""
    with acting(world.actor):
        workload = submit_workload(world, gpu=Gpu("whole", count, CARD), key=uuid4().hex)
    with acting(platform()):
        explanation = {"cause": cause, "params": {}, "funnel": [], "position": 1, "nearest": None, **explained}
        Workload.objects.filter(pk=workload.pk).update(name=name, explanation=explanation)
        workload.refresh_from_db()
    passed()
    return workload


def passed(milliseconds: int = 38) -> None:
    """A scheduling pass has run: what is read once per pass is read again."""
    SchedulerEpoch.objects.get_or_create(pk=1)
    SchedulerEpoch.objects.filter(pk=1).update(
        number=F("number") + 1, at=timezone.now(), milliseconds=milliseconds, waiting=1
    )


def holds(world: World, *held: Accelerator, waited: timedelta = timedelta(minutes=1)) -> Workload:
    """Something that was placed on these cards after having waited so long."""
    workload = waits(world, f"on {held[0].index}", count=len(held))
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(queued_at=timezone.now() - waited)
        workload.refresh_from_db()
        owner = workload.organisation_id
        attempt = Attempt(id=uuid4(), organisation_id=owner, workload=workload, number=1, node=held[0].node)
        pieces = [
            Placement(
                organisation_id=owner, attempt=attempt, node=card.node, accelerator=card, core_milli=1000,
                device_memory_mib=81_920, exclusive=True,
            )
            for card in held
        ]  # fmt: skip
        assert states.place(platform(), workload, attempt, pieces)
    passed()
    return workload


def guaranteed(organisation: Organisation, milli: int, model: str = "") -> None:
    with acting(platform()):
        Guarantee.objects.create(organisation=organisation, gpu_model=model, gpu_milli=milli)


def other_world() -> World:
    with acting(platform()):
        made = make_world()
        Node.objects.filter(pk=made.node.pk).delete()
        return made


def asked(victim: Workload, gainer: Workload, **columns: Any) -> Preemption:
    """The victim's attempt was asked to give way to the gainer a minute ago."""
    now = timezone.now()
    times = {"asked_at": now - timedelta(minutes=1), "leave_at": now + timedelta(minutes=1)}
    with acting(platform()):
        return Preemption.objects.create(
            **{
                "organisation_id": victim.organisation_id,
                "attempt": victim.attempts.get(),
                "for_workload_id": gainer.pk,
                "why": PreemptionWhy.GUARANTEE,
                **times,
                "kill_at": now + timedelta(minutes=6),
                **columns,
            }
        )
