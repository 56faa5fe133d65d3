"""Runs in every state, by the functions that the platform's loops call."""

from uuid import uuid4

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.training.models import Run
from apps.workloads import states
from apps.workloads.choices import Fault, Reason
from apps.workloads.models import Attempt, Placement
from apps.workloads.states import Claim, Why
from tests.builders import World, platform


def start(world: World, run: Run) -> Run:
    """Placed on the world's node, and proved to run."""
    with acting(platform()) as staff:
        workload = run.workload
        attempt = Attempt(
            id=uuid4(), organisation_id=workload.organisation_id, workload=workload, number=1, node=world.node
        )
        piece = Placement(
            organisation_id=workload.organisation_id, attempt=attempt, node=world.node, cpu_milli=1000, memory_mib=512
        )
        assert states.place(staff, workload, attempt, [piece])
        attempt.refresh_from_db()
        claim = Claim(attempt, attempt.fence)
        assert states.start(staff, claim, {"driver": "local"})
        assert states.run(staff, claim, db_now())
        run.workload.refresh_from_db()
    return run


def fail(run: Run) -> Run:
    with acting(platform()) as staff:
        why = Why(Reason.IMAGE_FAILED, {"detail": "no such wheel"}, Fault.PLATFORM)
        assert states.fail_waiting(staff, run.workload, why)
    return run


def explain(run: Run, cause: str) -> Run:
    """As a scheduling pass leaves it that found no room."""
    with acting(platform()):
        run.workload.explanation = {"cause": cause, "params": {}, "funnel": []}
        run.workload.save(update_fields=["explanation"])
    return run
