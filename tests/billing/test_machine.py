"""Any interleaving of what people, the kernel and the loops do keeps the books right."""

import pytest

from tests.billing.machine import MoneyMachine
from tests.searching import run_machine


@pytest.mark.django_db
@pytest.mark.hypothesis
def test_the_books_are_right_after_every_step() -> None:
    run_machine(MoneyMachine, count=14, steps=25)
