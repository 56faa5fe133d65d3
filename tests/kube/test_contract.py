"""What every driver promises, on a cluster."""

import pytest

from tests.drivers.contract import DriverContract

pytestmark = pytest.mark.kube


class TestKubernetesDriver(DriverContract):
    """All of it, unchanged."""
