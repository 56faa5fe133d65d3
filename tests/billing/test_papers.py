"""Whatever is paid, used, corrected, written and issued in any order: the papers say what the ledger says."""

import pytest

from tests.billing.papers import PaperMachine
from tests.searching import run_machine


@pytest.mark.django_db
@pytest.mark.hypothesis
def test_the_papers_say_what_the_ledger_says_after_every_step() -> None:
    run_machine(PaperMachine, count=14, steps=30)
