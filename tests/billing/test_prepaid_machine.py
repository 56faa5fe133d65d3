"""Whatever is bought, renewed, changed, given back and earned, in any order: no fen is lost and no period drifts."""

import pytest

from tests.billing.prepaid_machine import PrepaidMachine
from tests.searching import run_machine


@pytest.mark.django_db
@pytest.mark.hypothesis
def test_prepaid_books_are_right_after_every_step() -> None:
    run_machine(PrepaidMachine, count=10, steps=20)
