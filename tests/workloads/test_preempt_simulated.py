"""The whole life in the simulated zone, decided by the scheduler itself: by priority, and for a guarantee."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.clusters import services as clusters
from apps.clusters.models import Accelerator
from apps.common.scoping import acting
from apps.tenants import settings as platform_settings
from apps.tenants.models import Guarantee, Organisation
from apps.training.choices import KIND as TRAINING
from apps.training.services import spec_of
from apps.workloads import nodes
from apps.workloads import services as workloads
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy, Reason, Status
from apps.workloads.models import Attempt, Preemption, Workload
from apps.workloads.queueing.contract import ContractClass, contract_of
from apps.workloads.queueing.policy import QueueSettings
from tests.builders import World, actor_of, make_member, make_organisation, platform, reload, submit_workload
from tests.workloads.loops import tick, until
from tests.workloads.test_preempt import acts, finish

pytestmark = pytest.mark.programs

PACKAGE = "H100 whole card (simulated)"


@pytest.fixture
def zone(world: World) -> Iterator[World]:
    """One card that a whole-card package fits on, and rules that wait for nobody."""
    nodes.simulated_driver.cache_clear()
    found = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
    clusters.offer_packages(platform(), zone_id=found.pk)
    cards = Accelerator.objects.filter(node__name="sim-h100").order_by("index")
    cards.exclude(index=0).update(healthy=False)
    platform_settings.put(platform(), QueueSettings(notice_s=0, save_s=10, min_runtime_s=0))
    yield world
    finish(*Workload.objects.exclude(ended_at__isnull=False))
    nodes.simulated_driver.cache_clear()


def member(organisation: Organisation, world: World, priority: int) -> World:
    user = make_member(organisation, f"p{priority}", priority=priority)
    return replace(world, organisation=organisation, alice=user, actor=actor_of(user, organisation))


def submit(
    world: World,
    argv: tuple[str, ...] = ("sleep", "600"),
    *,
    preemptible: bool = True,
    members: int = 1,
    least_members: int | None = None,
) -> Workload:
    package = Package.objects.get(name_en=PACKAGE)
    with acting(world.actor):
        quote = funds.quote(world.actor, package_id=package.pk)
        return workloads.submit(
            world.actor,
            workloads.Submission(
                kind=TRAINING,
                name="run",
                spec=replace(
                    spec_of(package, world.image, argv=argv),
                    workdir="/workspace",
                    preemptible=preemptible,
                    members=members,
                    least_members=least_members,
                ),
                package_id=package.pk,
                price_version_id=quote.price_version_id,
                key=uuid4().hex,
                id=uuid4(),
            ),
        )


def run(world: World, *, preemptible: bool = True) -> Workload:
    return until(submit(world, preemptible=preemptible), lambda found: found.status == Status.RUNNING)


def test_a_higher_priority_takes_the_card_and_the_other_goes_on_afterwards(zone: World) -> None:
    low, high = member(zone.organisation, zone, 2), member(zone.organisation, zone, 5)
    victim = run(low)
    gainer = until(submit(high, ("sleep", "0.2")), lambda found: found.status == Status.SUCCEEDED)
    row = Preemption.objects.get()
    assert (row.attempt.workload_id, row.for_workload_id) == (victim.pk, gainer.pk)
    assert (row.why, row.outcome) == (PreemptionWhy.HIGHER_PRIORITY, PreemptionOutcome.REQUEUED)
    assert row.credited_fen == 0  # a simulated zone that nobody is billed for
    assert row.lost_s is not None
    assert acts(victim) == ["asked", "credited"]
    until(victim, lambda found: found.status == Status.RUNNING)
    assert victim.attempt_number == 2
    assert [each.number for each in Attempt.objects.filter(workload=victim).order_by("number")] == [1, 2]


def test_an_equal_priority_waits(zone: World) -> None:
    first = run(member(zone.organisation, zone, 3))
    second = submit(member(zone.organisation, zone, 3))
    for _step in range(3):
        tick()
    assert [reload(first).status, reload(second).status] == [Status.RUNNING, Status.QUEUED]
    assert not Preemption.objects.exists()


def test_who_may_not_be_interrupted_is_not_asked(zone: World) -> None:
    firm = run(member(zone.organisation, zone, 1), preemptible=False)
    submit(member(zone.organisation, zone, 5))
    for _step in range(3):
        tick()
    assert reload(firm).status == Status.RUNNING
    assert not Preemption.objects.exists()


def test_another_organisations_guarantee_takes_back_what_was_lent(zone: World) -> None:
    other = make_organisation()
    Guarantee.objects.create(organisation=other, simulated=True, gpu_model="H100", gpu_milli=1000)
    victim = run(member(zone.organisation, zone, 5))
    gainer = submit(member(other, zone, 1))
    until(gainer, lambda found: found.status == Status.RUNNING)
    row = Preemption.objects.get()
    assert (row.why, row.outcome) == (PreemptionWhy.GUARANTEE, PreemptionOutcome.REQUEUED)
    assert reload(victim).reason in (Reason.PREEMPTED, Reason.NONE)
    assert reload(victim).status == Status.QUEUED
    for _step in range(3):
        tick()
    assert Preemption.objects.count() == 1  # nothing swings back


def test_a_guarantee_takes_back_firm_work_beyond_its_own_where_the_platform_says_so(zone: World) -> None:
    other = make_organisation()
    Guarantee.objects.create(organisation=other, simulated=True, gpu_model="H100", gpu_milli=1000)
    firm = run(member(zone.organisation, zone, 5), preemptible=False)
    submit(member(other, zone, 1))
    for _step in range(3):
        tick()
    assert contract_of(firm).kind is ContractClass.UNINTERRUPTIBLE
    assert not Preemption.objects.exists()
    rules = QueueSettings(notice_s=0, save_s=10, min_runtime_s=0, firm_over_guarantee=False)
    platform_settings.put(platform(), rules)
    assert contract_of(firm).kind is ContractClass.FIRM
    until(firm, lambda found: found.status == Status.QUEUED)
    assert Preemption.objects.get().why == PreemptionWhy.GUARANTEE


def test_without_a_guarantee_priority_does_not_cross_organisations(zone: World) -> None:
    victim = run(member(zone.organisation, zone, 1))
    submit(member(make_organisation(), zone, 5))
    for _step in range(3):
        tick()
    assert reload(victim).status == Status.RUNNING
    assert not Preemption.objects.exists()


def test_nor_does_it_for_work_without_a_card(zone: World) -> None:
    """Nobody is guaranteed processors, so nobody has to give them back."""
    with acting(zone.actor):
        victims = [submit_workload(zone, argv=("sleep", "60")) for _each in range(4)]
    for victim in victims:
        until(victim, lambda found: found.status == Status.RUNNING)
    stranger = member(make_organisation(), zone, 5)
    with acting(stranger.actor):
        waits = submit_workload(stranger, argv=("true",))
    for _step in range(3):
        tick()
    assert reload(waits).status == Status.QUEUED
    assert not Preemption.objects.exists()
