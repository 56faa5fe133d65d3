"""After a run: what it used at most, and which package on offer would have been enough, in money."""

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.models import Package
from apps.clusters.models import Accelerator
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads import selectors
from apps.workloads.drivers.base import Observation, Phase, Usage
from apps.workloads.fit.hints import hints
from apps.workloads.fit.smaller import LONG_ENOUGH_S, Fit, Verdict, fit_of
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.reconcile.peaks import peak_columns
from tests.builders import World, platform, submit_workload, unique

GB = 1024
MODEL = "A100-80G"


@dataclass(frozen=True, slots=True)
class Shop:
    """Packages of one model of card: a whole one, a hardware partition, a limited and a shared slice, and none."""

    whole: Package
    mig: Package
    vgpu: Package
    shared: Package
    cpu: Package


def offer(rate_fen: int, mode: str = "", core: int = 0, slice_mib: int = 0, **changes: Any) -> Package:
    fields = {"cpu_milli": 4000, "memory_mib": 16 * GB, **changes}
    if mode:
        fields |= {"gpu_count": 1, "gpu_model": MODEL, "gpu_mode": mode, "gpu_core_milli": core}
        fields |= {"gpu_memory_mib": slice_mib, "mig_profile": "3g.40gb" if mode == "mig" else ""}
    name = unique("Package")
    spec = billing.PackageSpec(name_en=name, name_zh=name, **{**fields, **changes})
    return billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(rate_fen))


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop(
        whole=offer(780, "whole", 1000, 80 * GB),
        mig=offer(400, "mig", 429, 40 * GB),
        vgpu=offer(260, "vgpu", 250, 20 * GB),
        shared=offer(130, "shared", 125, 10 * GB),
        cpu=offer(60),
    )


def ran(world: World, package: Package, seconds: float = 7200, **peaks: Any) -> Workload:
    """A run on the package that used at most `peaks`."""
    on = replace(world, package=package)
    workload = submit_workload(on)
    used = {"peak_cpu_milli": 900, "peak_memory_mib": 2 * GB, **peaks}
    ended = db_now() + timedelta(days=1)
    attempt = Attempt.objects.create(
        id=uuid4(), organisation=world.organisation, workload=workload, number=1, node=world.node,
        started_at=ended - timedelta(seconds=seconds), ended_at=ended, ran_for_s=seconds, **used,
    )  # fmt: skip
    if package.gpu_count:
        card = Accelerator.objects.create(
            node=world.node, uuid=unique("GPU"), index=0, vendor="nvidia", model=MODEL, memory_mib=80 * GB
        )
        Placement.objects.create(
            organisation=world.organisation, attempt=attempt, node=world.node, accelerator=card,
            device_memory_mib=package.gpu_memory_mib, core_milli=package.gpu_core_milli, released_at=db_now(),
        )  # fmt: skip
    return workload


def judged(world: World, workload: Workload) -> Fit:
    with acting(world.actor):
        return fit_of(world.actor, workload, selectors.attempts(workload))


def names(fit: Fit) -> list[str]:
    return [each.package.name_en for each in fit.smaller]


def test_the_cheapest_that_would_have_been_enough_is_named_with_what_it_saves(world: World, shop: Shop) -> None:
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=9_400, peak_gpu_util_pct=20.0))
    assert names(fit) == [shop.mig.name_en, shop.vgpu.name_en]
    as_strong, cheapest = fit.smaller
    assert (as_strong.rate_fen_per_hour, as_strong.saved_fen) == (Decimal(400), Decimal(760))
    assert cheapest.saved_fen == Decimal(1040)
    assert (as_strong.weaker, cheapest.weaker) == (False, True), "limited in memory isolates less, and it is said"


def test_a_margin_is_kept_above_the_peak(world: World, shop: Shop) -> None:
    """17.5 GB are within 20 GB, but not with 15 % to spare."""
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=int(17.5 * GB), peak_gpu_util_pct=10.0))
    assert names(fit) == [shop.mig.name_en]


def test_compute_counts_as_memory_does(world: World, shop: Shop) -> None:
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=4 * GB, peak_gpu_util_pct=31.0))
    assert names(fit) == [shop.mig.name_en], "a quarter of the card's compute is less than 31 %"


def test_a_share_of_a_slice_is_a_share_of_that_slice(world: World, shop: Shop) -> None:
    """Half of a 250-milli slice is an eighth of the card, and with the margin more than the shared eighth."""
    busy = judged(world, ran(world, shop.vgpu, peak_gpu_memory_mib=2 * GB, peak_gpu_util_pct=50.0))
    assert busy.verdict is Verdict.NOTHING_SMALLER
    idle = judged(world, ran(world, shop.vgpu, peak_gpu_memory_mib=2 * GB, peak_gpu_util_pct=40.0))
    assert names(idle) == [shop.shared.name_en]
    assert idle.smaller[0].weaker


def test_nothing_smaller_is_said_too(world: World, shop: Shop) -> None:
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=70 * GB, peak_gpu_util_pct=97.0))
    assert (fit.verdict, fit.smaller) == (Verdict.NOTHING_SMALLER, ())


def test_a_card_that_never_computed_was_not_needed(world: World, shop: Shop) -> None:
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=600, peak_gpu_util_pct=0.0))
    assert shop.cpu.name_en in names(fit)


@pytest.mark.parametrize("seconds", [0, LONG_ENOUGH_S - 1])
def test_a_short_run_is_not_judged(world: World, shop: Shop, seconds: float) -> None:
    fit = judged(world, ran(world, shop.whole, seconds, peak_gpu_memory_mib=600, peak_gpu_util_pct=1.0))
    assert fit.verdict is Verdict.TOO_SHORT


def test_what_was_not_measured_is_not_judged(world: World, shop: Shop) -> None:
    assert judged(world, ran(world, shop.whole)).verdict is Verdict.UNMEASURED


def test_a_partition_is_judged_by_memory_alone_and_it_is_said(world: World, shop: Shop) -> None:
    fit = judged(world, ran(world, shop.mig, peak_gpu_memory_mib=5 * GB))
    assert fit.by_memory_alone
    assert names(fit) == [shop.shared.name_en]


def test_processor_and_memory_have_to_be_enough_too(world: World, shop: Shop) -> None:
    small = offer(100, "vgpu", 250, 20 * GB, cpu_milli=1000, memory_mib=2 * GB)
    fit = judged(world, ran(world, shop.whole, peak_memory_mib=2 * GB, peak_gpu_memory_mib=600, peak_gpu_util_pct=1.0))
    assert small.name_en not in names(fit)


def test_other_models_and_other_numbers_of_cards_say_nothing(world: World, shop: Shop) -> None:
    other = offer(10, "vgpu", 250, 20 * GB, gpu_model="H100")
    two = offer(20, "vgpu", 250, 20 * GB, gpu_count=2)
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=4 * GB, peak_gpu_util_pct=10.0))
    assert not {other.name_en, two.name_en} & set(names(fit))


def test_only_what_the_person_may_use_is_named(world: World, shop: Shop) -> None:
    billing.deactivate_package(platform(), package_id=shop.vgpu.pk)
    fit = judged(world, ran(world, shop.whole, peak_gpu_memory_mib=9_400, peak_gpu_util_pct=20.0))
    assert names(fit) == [shop.mig.name_en]


def test_the_next_launch_is_told_what_fits(world: World, shop: Shop) -> None:
    workload = ran(world, shop.whole, peak_gpu_memory_mib=int(18.5 * GB), peak_gpu_util_pct=20.0)
    with acting(world.actor):
        said = hints(workload, selectors.attempts(workload), list(funds.packages(world.actor)))
    assert "does not fit" in said[shop.shared.pk].words
    assert "a tight fit" in said[shop.vgpu.pk].words
    assert ": fits" in said[shop.mig.pk].words
    assert [said[each.pk].fits for each in (shop.shared, shop.vgpu, shop.mig)] == [False, True, True]
    assert shop.cpu.pk not in said, "the last run says nothing of packages without cards"


def test_peaks_only_rise_and_keep_what_is_not_measured_any_more() -> None:
    attempt = Attempt(peak_cpu_milli=500, peak_gpu_util_pct=80.0)
    seen = Observation(Phase.RUNNING, usage=Usage(5.0, 700, 64, 31.0, 9_000, 50, 8_000), peak_memory_mib=90)
    columns = peak_columns(attempt, seen)
    assert columns == {
        "peak_memory_mib": 90,
        "peak_cpu_milli": 700,
        "peak_gpu_memory_mib": 8_000,
        "peak_gpu_util_pct": 80.0,
    }
    assert peak_columns(Attempt(**columns), Observation(Phase.EXITED)) == columns
