"""Turning the platform's loops by hand."""

import time
from collections.abc import Callable

from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.selectors import current_attempt, log_chunk
from tests.builders import platform, reload
from tests.drivers.kit import eventually


def make_due() -> None:
    """Skip the pause between two looks."""
    Attempt.objects.filter(ended_at__isnull=True).update(next_check_at="2000-01-01T00:00Z")


def tick() -> None:
    """One turn of each loop."""
    run_pass(platform())
    make_due()
    reconcile_due(platform())


def until(workload: Workload, condition: Callable[[Workload], bool], timeout_s: float = 60.0) -> Workload:
    """Turn the loops until `condition(workload)`; fails after `timeout_s`."""
    end = time.monotonic() + timeout_s
    while not condition(reload(workload)):
        assert time.monotonic() < end, f"still {workload.status} ({workload.reason}) {workload.reason_data}"
        tick()
        time.sleep(0.1)
    return workload


def printed(workload: Workload, text: bytes) -> None:
    """Wait until its program says so: one that runs may be far from the line that says what it does with a signal."""
    eventually(lambda: log_chunk(current_attempt(workload)).data, lambda data: text in data)
