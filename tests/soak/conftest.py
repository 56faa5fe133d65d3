"""A soak in a database of its own, copied from the template that all suites share."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from benchmarks.soak.clock import scratch_database
from benchmarks.soak.plan import Plan
from benchmarks.soak.run import Soak, prepared
from tests import template

Soaking = Callable[[Plan], Soak]
_serial = count(1)


@pytest.fixture
def soaking(django_db_blocker: Any) -> Iterator[Soaking]:
    """Prepares the soak of a plan, the one before it ends; the last one's database goes with the test."""
    with django_db_blocker.unblock(), ExitStack() as stack:

        def soak_of(plan: Plan) -> Soak:
            stack.close()
            template.prepare(keep=False)
            clock = stack.enter_context(
                scratch_database(f"plstack_soak_{os.getpid()}_{next(_serial)}", template.name())
            )
            return stack.enter_context(prepared(plan, clock))

        yield soak_of
