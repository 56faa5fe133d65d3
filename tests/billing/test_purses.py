"""Whatever comes in and is granted, bought, given back and used, in any order: each account has what it should."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.billing.alipay.gateway import serving
from tests.billing.purses import PurseMachine


@pytest.mark.django_db
def test_every_account_has_what_it_should_after_every_step() -> None:
    with serving() as gateway:
        PurseMachine.gateway = gateway
        run_state_machine_as_test(
            PurseMachine,
            settings=settings(
                max_examples=12,
                stateful_step_count=25,
                derandomize=True,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
