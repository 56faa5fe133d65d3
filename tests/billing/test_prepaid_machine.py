"""Whatever is bought, renewed, changed, given back and earned, in any order: no fen is lost and no period drifts."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.billing.prepaid_machine import PrepaidMachine


@pytest.mark.django_db
def test_prepaid_books_are_right_after_every_step() -> None:
    run_state_machine_as_test(
        PrepaidMachine,
        settings=settings(
            max_examples=10,
            stateful_step_count=20,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
