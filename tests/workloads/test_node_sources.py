"""Whether nodes reach where software comes from: who is asked when, and what is kept of it."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants import settings as store
from apps.workloads import software_sources
from apps.workloads.drivers.capabilities import Probe
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import sources
from apps.workloads.hardware.sources import Finding, finding, is_due, probe_due
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.selectors import current_attempt
from apps.workloads.software_sources import SourceSettings
from tests.builders import World, platform, reload, submit_workload
from tests.drivers.indexes import Index, index
from tests.workloads.loops import tick

WELL = Probe("pip", "https://index.example/simple/", 0.1)
FAILED = replace(WELL, said=Said(Code.SOURCE_ANSWERS, {"url": WELL.url, "status": 404}))


@pytest.fixture(autouse=True)
def acting_platform(tmp_path: Path, settings: LazySettings) -> Iterator[None]:
    settings.PLSTACK_HOME = tmp_path / "home"
    with acting(platform()):
        yield


@pytest.fixture
def campus(tmp_path: Path) -> Iterator[Index]:
    with index(tmp_path) as found:
        yield found


def choose(found: Index, **changes: str) -> None:
    store.put(platform(), SourceSettings(**{**asdict(found.sources), **changes}))


def put_back(node: Node, by: timedelta) -> None:
    """Its last answer becomes older."""
    kept = reload(node).software_sources
    at = (db_now() - by).isoformat()
    Node.objects.filter(pk=node.pk).update(software_sources={**kept, "at": at})


def test_a_node_is_asked_once_and_says_what_it_reaches(world: World, campus: Index) -> None:
    choose(campus)
    assert probe_due(platform()) == 1
    found = finding(reload(world.node))
    assert found is not None
    assert [(each.kind, each.url, each.said) for each in found.probes] == [
        ("pip", campus.sources.pip_index, None),
        ("npm", campus.sources.npm_registry, None),
    ]
    assert not found.failures
    assert probe_due(platform()) == 0


def test_changed_settings_are_tried_at_once_and_failures_soon_again(world: World, campus: Index) -> None:
    choose(campus)
    probe_due(platform())
    choose(campus, npm_registry=f"https://localhost:{campus.port}/nowhere/")
    assert probe_due(platform()) == 1
    found = finding(reload(world.node))
    assert found is not None
    assert [each.kind for each in found.failures] == ["npm"]
    assert probe_due(platform()) == 0
    put_back(world.node, timedelta(minutes=6))
    assert probe_due(platform()) == 1


def test_who_asks_again_and_who_starts_is_answered(world: World, campus: Index) -> None:
    choose(campus)
    probe_due(platform())
    sources.ask_again(platform(), node_id=world.node.pk)
    assert finding(reload(world.node)) is None
    assert probe_due(platform()) == 1
    assert probe_due(platform(), starting=True) == 1


def test_when_it_is_due() -> None:
    now = db_now()
    well, failed = Finding(now, "a", (WELL,)), Finding(now, "a", (WELL, FAILED))
    assert is_due(None, "a", now)
    assert is_due(well, "b", now)
    assert not is_due(well, "a", now + timedelta(minutes=59))
    assert is_due(well, "a", now + timedelta(minutes=61))
    assert is_due(failed, "a", now + timedelta(minutes=6))


def test_lost_and_silent_machines_are_not_asked(world: World, campus: Index) -> None:
    choose(campus)
    Node.objects.filter(pk=world.node.pk).update(silent_since=db_now())
    assert probe_due(platform()) == 0


def test_what_another_version_wrote_is_asked_anew(world: World) -> None:
    for kept in ({}, {"at": "then"}, {"at": db_now().isoformat(), "digest": "", "probes": [{"kind": "pip"}]}, {"x": 1}):
        world.node.software_sources = kept
        assert finding(world.node) is None


@pytest.mark.programs
def test_work_is_launched_with_the_chosen_sources(world: World, campus: Index) -> None:
    choose(campus, pip_extra_indexes="https://a.example/  https://b.example/", no_proxy="a.example, .b.example")
    workload = submit_workload(world)
    tick()
    sent = launch_request(current_attempt(workload)).sources
    assert sent.pip_index == campus.sources.pip_index
    assert sent.pip_extra_indexes == "https://a.example/ https://b.example/"
    assert sent.no_proxy == "a.example,.b.example"
    assert sent == software_sources.chosen()
