"""Kinds of work: a home where programs run, people around one organisation, and one kind more than the house has."""

import importlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.urls import clear_url_caches

from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.workloads import kinds, nodes
from apps.workloads.kinds import KindRules
from apps.workloads.models import ReplicaSet, Workload
from plstack import api_urls, urls
from tests.builders import World, platform
from tests.homes import home as home
from tests.homes import shared_home as shared_home
from tests.kinds.replicated import all_serve, serve, simulated_machines, until_set
from tests.kinds.toy.kind import TOY
from tests.people import alice, bob, charlie, dora, frank, staff, world
from tests.workloads.test_preempt import finish

__all__ = ["alice", "bob", "charlie", "dora", "frank", "staff", "world"]


@pytest.fixture
def toy() -> Iterator[KindRules]:
    """As if `WORKLOAD_KINDS` listed it."""
    kinds.register(TOY)
    _read_urls_again()
    yield TOY
    kinds.withdraw(TOY)
    _read_urls_again()


@pytest.fixture
def serving_toy() -> Iterator[KindRules]:
    """A toy that has replicas, and so plays until it is put away."""
    rules = replace(TOY, ends=False, replicas=True)
    kinds.register(rules)
    _read_urls_again()
    yield rules
    kinds.withdraw(rules)
    _read_urls_again()


@pytest.fixture
def three_machines(world: World) -> Iterator[list[Node]]:
    """Simulated ones with a card each, in a zone that is billed."""
    nodes.simulated_driver.cache_clear()
    with acting(platform()):
        yield simulated_machines()
        Node.objects.update(switched_off=False)
        finish(*Workload.objects.exclude(ended_at__isnull=False))
    nodes.simulated_driver.cache_clear()


@pytest.fixture
def band(world: World, serving_toy: KindRules, three_machines: list[Node]) -> ReplicaSet:
    """Three toys that serve."""
    found = serve(world)
    until_set(found, all_serve(found))
    return found


def _read_urls_again() -> None:
    """The site reads its URLs once, when it starts."""
    for module in (api_urls, urls):
        importlib.reload(module)
    clear_url_caches()
