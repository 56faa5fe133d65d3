"""Kinds of work: a home where programs run, people around one organisation, and one kind more than the house has."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from apps.workloads import kinds
from apps.workloads.kinds import KindRules
from tests.homes import home as home
from tests.homes import shared_home as shared_home
from tests.kinds.toy.kind import TOY
from tests.people import alice, bob, charlie, dora, frank, staff, world

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]


@pytest.fixture
def toy(settings: LazySettings) -> Iterator[KindRules]:
    """As if `WORKLOAD_KINDS` and the site's URLs listed it."""
    kinds.register(TOY)
    settings.ROOT_URLCONF = "tests.kinds.toy.urls"
    yield TOY
    kinds.withdraw(TOY)
