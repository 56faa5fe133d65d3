"""Any interleaving of what people, the kernel and the loops do keeps the books right."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.billing.machine import MoneyMachine


@pytest.mark.django_db
def test_the_books_are_right_after_every_step() -> None:
    run_state_machine_as_test(
        MoneyMachine,
        settings=settings(
            max_examples=14,
            stateful_step_count=25,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
