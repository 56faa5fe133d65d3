"""Whatever comes in and is granted, bought, given back and used, in any order: each account has what it should."""

import pytest

from tests.billing.alipay.gateway import serving
from tests.billing.purses import PurseMachine
from tests.searching import run_machine


@pytest.mark.django_db
@pytest.mark.hypothesis
def test_every_account_has_what_it_should_after_every_step() -> None:
    with serving() as gateway:
        PurseMachine.gateway = gateway
        run_machine(PurseMachine, count=12, steps=25)
