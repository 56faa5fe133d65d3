"""The local driver against the contract, on both levels; what depends on control groups also without them."""

import pytest

from apps.workloads.drivers.base import IsolationLevel
from tests.drivers.conftest import MakeKit, control_groups_work
from tests.drivers.contract import DriverContract
from tests.drivers.kit import Kit

LEVELS = [IsolationLevel.L1, IsolationLevel.L0]


@pytest.mark.parametrize("level", LEVELS)
class TestLocalDriver(DriverContract):
    @pytest.fixture
    def kit(self, level: IsolationLevel, make_kit: MakeKit) -> Kit:
        return make_kit(level, control_groups_work())


@pytest.mark.parametrize("level", LEVELS)
class TestWithoutControlGroups:
    @pytest.fixture
    def kit(self, level: IsolationLevel, make_kit: MakeKit) -> Kit:
        return make_kit(level, False)

    test_memory = DriverContract.test_too_much_memory_is_named_as_such
    test_usage = DriverContract.test_usage_is_measured_while_it_runs
    test_leftovers = DriverContract.test_what_it_leaves_running_ends_with_it
    test_stop = DriverContract.test_stop_reaches_children_of_a_shell_that_does_not_wait
