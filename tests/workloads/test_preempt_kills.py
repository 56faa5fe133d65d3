"""A worker that dies anywhere between notice and requeue leaves a pre-emption that the next one brings to its end."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from apps.billing.choices import TransferKind
from apps.billing.models import Charge, MeterSession, Transfer
from apps.billing.models.rating import CREDIT
from apps.common.clock import db_now
from apps.workloads.choices import PreemptionOutcome, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.models import Attempt, Event, Preemption, Workload
from apps.workloads.nodes import local_driver
from apps.workloads.queueing import preempting
from apps.workloads.reconcile import outcome, preempted_attempts
from apps.workloads.reconcile.attempts import claim_due
from apps.workloads.states import Claim
from tests.builders import World, platform, reload
from tests.drivers.kit import eventually
from tests.workloads.loops import make_due
from tests.workloads.test_preempt import acts, ask, finish, notice_ends, running, turn, until_left, waiting

pytestmark = pytest.mark.programs

Death = Callable[[Claim], None]


def handle_of(claim: Claim) -> Handle:
    return Handle.from_dict(claim.attempt.handle or {})


def after_claiming(claim: Claim) -> None:
    """Nothing was done yet."""


def after_telling(claim: Claim) -> None:
    preempted_attempts.deliver_notice(
        local_driver(), handle_of(claim), preempting.preemption_of(claim.attempt), db_now()
    )


def after_asking_it_to_end(claim: Claim) -> None:
    after_telling(claim)
    local_driver().stop(handle_of(claim), 300)


def after_it_had_ended(claim: Claim) -> None:
    after_asking_it_to_end(claim)
    eventually(lambda: local_driver().observe(handle_of(claim)), lambda seen: seen.phase.is_final)


def killed(death: Death) -> Claim:
    """A worker that claims the attempt, gets as far as `death`, and is never heard of again."""
    make_due()
    (claim,) = claim_due(10)
    death(claim)
    return claim


def lease_runs_out(claim: Claim) -> None:
    Attempt.objects.filter(pk=claim.attempt.pk).update(lease_until=db_now() - timedelta(seconds=1))


@pytest.mark.parametrize("death", [after_claiming, after_telling, after_asking_it_to_end, after_it_had_ended])
def test_the_next_worker_brings_it_to_its_end_once(world: World, death: Death) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    turn()
    notice_ends()
    dead = killed(death)
    turn()
    assert reload(victim).status == Status.RUNNING, "a lease is left alone while it holds"
    lease_runs_out(dead)
    row = until_left(victim)
    assert row.outcome == PreemptionOutcome.REQUEUED
    check_once(victim)
    # And the dead one wakes up after all: what it brings is void.
    outcome.apply(platform(), dead, local_driver().observe(handle_of(dead)))
    turn()
    check_once(victim)
    finish(gainer)


def check_once(victim: Workload) -> None:
    """One end, one loss, one credit, and a queue that knows of it once."""
    assert reload(victim).status == Status.QUEUED
    assert Attempt.objects.filter(workload=victim).count() == 1
    assert acts(victim) == ["asked", "credited"]
    assert Event.objects.filter(workload=victim, status=Status.QUEUED, reason="preempted", kind="status").count() == 1
    session = MeterSession.objects.get(workload_id=victim.pk)
    assert session.settled
    exact = sum(charge.exact_fen for charge in Charge.objects.filter(session=session))
    assert exact == 0
    assert Transfer.objects.filter(kind=TransferKind.CREDIT).count() <= 1
    hours = {charge.slice_start for charge in Charge.objects.filter(session=session, revision=CREDIT)}
    assert Charge.objects.filter(session=session, revision=CREDIT).count() == len(hours)


def test_a_credit_that_failed_is_given_by_the_next_turn(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    notice_ends()

    def dies(*_anything: object, **_more: object) -> int:
        raise OSError("killed here")

    with monkeypatch.context() as patched:
        patched.setattr("apps.billing.services.credit_lost", dies)
        eventually(lambda: (turn(), Preemption.objects.get().outcome)[1], PreemptionOutcome.REQUEUED.__eq__)
        turn()
        assert acts(victim) == ["asked"], "the queue goes on without its money's books"
        assert Preemption.objects.get().lost_s is None
    until_left(victim)
    check_once(victim)
    finish(gainer)


def test_a_notice_given_by_a_pass_that_was_rolled_back_was_never_given(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    assert ask(victim, gainer) == 1
    Preemption.objects.all().delete()  # as the rollback leaves it
    notice_ends()
    for _step in range(3):
        turn()
    assert reload(victim).status == Status.RUNNING
    finish(victim, gainer)
