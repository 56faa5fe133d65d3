"""Tracking's tests: people around one organisation, and a workload of Alice's."""

import pytest

from apps.common.scoping import acting
from apps.workloads.models import Workload
from tests.builders import World, submit_workload
from tests.people import alice, bob, charlie, dora, frank, staff, world

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]


@pytest.fixture
def workload(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world)
