"""What a run used, on its page, in the API, and in the form of its next version."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.test import Client

from apps.billing import services as billing
from apps.billing.models import Package
from apps.clusters.models import Accelerator
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.training.models import Run
from apps.workloads import states
from apps.workloads.choices import Reason
from apps.workloads.models import Attempt, Placement
from tests.builders import World, platform, unique
from tests.training.kit import submit, text, url

GB = 1024


def gpu(rate_fen: int, name: str, mode: str, core: int, slice_mib: int) -> Package:
    spec = billing.PackageSpec(
        name_en=name, name_zh=name, cpu_milli=2000, memory_mib=8 * GB, gpu_count=1, gpu_model="A100", gpu_mode=mode,
        gpu_core_milli=core, gpu_memory_mib=slice_mib,
    )  # fmt: skip
    return billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(rate_fen))


@pytest.fixture
def ended(world: World) -> Run:
    """Two hours on a whole A100, of which it used 9.2 GB and a fifth; it has ended."""
    with acting(platform()):
        whole = gpu(780, "A100 whole", "whole", 1000, 80 * GB)
        gpu(260, "A100 quarter", "vgpu", 250, 20 * GB)
        gpu(90, "A100 sliver", "vgpu", 100, 8 * GB)
    run = submit(replace(world, package=whole))
    with acting(platform()):
        ended = db_now() + timedelta(hours=3)
        attempt = Attempt.objects.create(
            id=uuid4(), organisation=world.organisation, workload=run.workload, number=1, node=world.node,
            started_at=ended - timedelta(hours=2), ended_at=ended, ran_for_s=7200, peak_cpu_milli=900,
            peak_memory_mib=3 * GB, peak_gpu_memory_mib=9_420, peak_gpu_util_pct=20.0,
        )  # fmt: skip
        card = Accelerator.objects.create(
            node=world.node, uuid=unique("GPU"), index=0, vendor="nvidia", model="A100", memory_mib=80 * GB
        )
        Placement.objects.create(
            organisation=world.organisation, attempt=attempt, node=world.node, accelerator=card,
            device_memory_mib=80 * GB, core_milli=1000, released_at=db_now(),
        )  # fmt: skip
        states.stop(platform(), run.workload, states.Why(Reason.BY_PERSON, {}))
    return run


def test_the_page_says_what_less_would_have_cost(alice: Client, ended: Run) -> None:
    page = text(alice.get(url("detail", ended)))
    assert "9.2 GB of 80 GB" in page
    assert "A100 quarter would have done" in page
    assert "¥2.60/h instead of ¥7.80/h: <strong>¥10.40 less</strong>" in page
    assert "isolates less than what it had (Whole card)" in page
    assert "A100 sliver would have done" not in page


def test_the_api_says_the_same(alice: Client, charlie: Client, ended: Run) -> None:
    path = f"/api/v1/training/runs/{ended.pk}/fit/"
    told = alice.get(path).json()
    assert (told["verdict"], told["by_memory_alone"], told["margin"]) == ("smaller", False, 0.15)
    assert told["peaks"]["gpu_memory_mib"] == 9_420
    assert [(each["name_en"], each["isolates_less"], each["isolation"]) for each in told["smaller"]] == [
        ("A100 quarter", True, "memory")
    ]
    assert Decimal(told["smaller"][0]["saved_fen"]) == 1040
    assert charlie.get(path).status_code == 404


def test_the_next_version_is_told_what_fits(alice: Client, ended: Run) -> None:
    form = text(alice.get(f"/training/new/?from={ended.pk}"))
    assert "Last time it used 9.2 GB of GPU memory: does not fit." in form
    assert "Last time it used 9.2 GB of GPU memory: fits." in form


def test_a_run_that_never_ran_has_no_card(alice: Client, world: World) -> None:
    run = submit(world)
    with acting(platform()):
        states.stop(platform(), run.workload, states.Why(Reason.BY_PERSON, {}))
    assert 'id="fit"' not in text(alice.get(url("detail", run)))
