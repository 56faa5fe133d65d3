"""A failed run's card says what its accelerator reported while it ran, where the accelerator was its alone."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.billing.choices import GpuMode
from apps.clusters import xids
from apps.clusters.models import Accelerator, CardFault
from apps.common.scoping import acting
from apps.workloads import faults
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.models import Attempt, Workload
from tests.builders import platform
from tests.workloads.cards import make_gpu_package, scheduled, submit_on, world_of_cards

pytestmark = pytest.mark.django_db

ENDED = timezone.now()
STARTED = ENDED - timedelta(minutes=10)


@pytest.fixture
def failed() -> tuple[Workload, Attempt]:
    return placed_and_failed()


def placed_and_failed(mode: GpuMode = GpuMode.WHOLE) -> tuple[Workload, Attempt]:
    with acting(platform()):
        world = world_of_cards(2)
        Accelerator.objects.update(mode=mode.value, limiter="hami")
        package = make_gpu_package(mode=mode, memory_mib=8192 if mode is GpuMode.VGPU else 0)
    workload = scheduled(submit_on(world.actor, package))
    with acting(platform()):
        attempt = Attempt.objects.get(workload=workload)
    attempt.started_at, attempt.ended_at = STARTED, ENDED
    workload.status, workload.reason, workload.fault = Status.FAILED, Reason.EXIT_CODE, Fault.USER
    workload.reason_data = {"code": 1}
    return workload, attempt


def report(attempt: Attempt, code: int, *, after_s: float = 300, card: Accelerator | None = None) -> None:
    at = STARTED + timedelta(seconds=after_s)
    with acting(platform()):
        own = card or Accelerator.objects.get(placements__attempt=attempt)
    CardFault.objects.create(
        accelerator=own, boot_id=uuid4(), code=code, remedy=xids.remedy(code, ""), at=at, last_at=at, last_usec=1
    )


def shown(failed: tuple[Workload, Attempt]) -> dict[str, Any]:
    with acting(platform()):
        card = faults.card(*failed)
    assert card is not None
    return card


def test_what_the_program_did_to_its_card_is_told_with_how_to_find_it(failed: tuple[Workload, Attempt]) -> None:
    report(failed[1], 45)
    report(failed[1], 31)
    card = shown(failed)
    assert "page fault" in card["text"]
    assert "XID 31" in card["text"]
    assert card["verdict"] == "The cause is in the program."
    assert "compute-sanitizer" in card["fixes"][0]["label"]
    assert len(card["fixes"]) > 1


@pytest.mark.parametrize("code", [48, 79, 94])
def test_where_the_card_itself_failed_the_program_is_not_blamed(failed: tuple[Workload, Attempt], code: int) -> None:
    report(failed[1], 13)
    report(failed[1], code)
    card = shown(failed)
    assert f"XID {code}" in card["text"]
    assert "probably the card's fault" in card["verdict"]
    assert "Run it again" in card["fixes"][0]["label"]


@pytest.mark.parametrize("after_s", [-60, 660])
def test_a_fault_of_another_time_is_not_its(failed: tuple[Workload, Attempt], after_s: float) -> None:
    report(failed[1], 31, after_s=after_s)
    assert "XID" not in shown(failed)["text"]


def test_one_that_is_noted_a_moment_after_the_end_is(failed: tuple[Workload, Attempt]) -> None:
    report(failed[1], 31, after_s=603)
    assert "XID 31" in shown(failed)["text"]


def test_a_fault_of_another_card_is_not_its(failed: tuple[Workload, Attempt]) -> None:
    with acting(platform()):
        other = Accelerator.objects.exclude(placements__attempt=failed[1]).get()
    report(failed[1], 79, card=other)
    assert "XID" not in shown(failed)["text"]


def test_of_a_shared_card_nobody_is_told_whose_fault_it_was() -> None:
    failed = placed_and_failed(GpuMode.VGPU)
    report(failed[1], 31)
    assert "XID" not in shown(failed)["text"]


def test_an_end_with_a_cause_of_its_own_keeps_it(failed: tuple[Workload, Attempt]) -> None:
    report(failed[1], 31)
    failed[0].reason = Reason.OUT_OF_MEMORY
    assert "XID" not in shown(failed)["text"]
