"""Container images on this machine without a container engine."""

import pytest

from apps.workloads.drivers.base import IsolationLevel
from tests.drivers.conftest import MakeKit, control_groups_work
from tests.drivers.contract_images import pushed as pushed
from tests.drivers.contract_saving import SavingContract
from tests.drivers.contract_stages import StagesContract
from tests.drivers.kit import Kit


@pytest.mark.parametrize("level", [IsolationLevel.L1, IsolationLevel.L0])
class TestLocalImages(SavingContract, StagesContract):
    @pytest.fixture
    def kit(self, level: IsolationLevel, make_kit: MakeKit) -> Kit:
        return make_kit(level, control_groups_work())
