"""Datasets copied to where the work goes: what machines are told, and what people read of it."""

import hashlib
import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.clusters import dataset_caches
from apps.clusters.models import Node, ZoneStorage
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.storage import datasets, listings, volumes
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen
from apps.storage.copy_quote import with_copies
from apps.storage.models import DatasetVersion
from apps.workloads.choices import Status
from apps.workloads.dataset_copies import (
    CopyOutlook,
    coming_copy,
    copy_outlook,
    copy_sources,
    mount_copies,
    outlook_words,
)
from apps.workloads.driver_fields import ProgressField
from apps.workloads.drivers.local.dataset_cache import DatasetCache
from apps.workloads.drivers.said import Code, Said
from apps.workloads.models import Attempt, Workload
from apps.workloads.nodes import data_root
from apps.workloads.reconcile import topology_version
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.spec import DataMount
from apps.workloads.startup import progress_text, startup_steps
from plstack.agent.cli import trim_datasets
from tests.builders import World, make_node, platform, submit_workload
from tests.storage.kit import make_volume
from tests.storage.test_mounts import make_version
from tests.workloads.test_lost_agents import world as world

TELLS: dict[str, Any] = {"entries": [], "count": 0, "used_bytes": 0, "bytes_per_s": 0}


pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]


def keeps(node: Node, gib: int = 1, **told: Any) -> None:
    """A node whose zone lets machines keep copies, and whose agent does."""
    ZoneStorage.objects.update_or_create(zone=node.cluster.zone, defaults={"dataset_cache_gib": gib})
    Node.objects.filter(pk=node.pk).update(dataset_cache={**TELLS, **told})
    node.refresh_from_db()


def mount_of(version: DatasetVersion) -> DataMount:
    return datasets.mount_of(version, "/datasets/digits")


def waiting(world: World, version: DatasetVersion, **changes: Any) -> Workload:
    with acting(world.actor):
        return submit_workload(world, mounts=(mount_of(version),), **changes)


def has(version: DatasetVersion) -> list[list[str]]:
    return [[str(version.organisation_id), bytes(version.listing_sha256 or b"").hex()]]


# Listings


def test_a_version_has_a_listing_that_says_all_of_it(world: World) -> None:
    version = make_version(world)
    path = data_root() / listings.listing_path(version.organisation_id, version.pk)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [["data.csv", 4, hashlib.sha256(b"1,2\n").hexdigest(), False]]
    assert hashlib.sha256(path.read_bytes()).digest() == bytes(version.listing_sha256 or b"")
    assert path.stat().st_mode & 0o777 == 0o444


def test_an_older_version_gets_one_and_until_then_is_mounted_where_it_is(world: World) -> None:
    version = make_version(world)
    digest = bytes(version.listing_sha256 or b"")
    DatasetVersion.objects.update(listing_sha256=None)
    listings.remove_listing(version.organisation_id, version.pk)
    with acting(platform()):
        assert copy_sources([mount_of(version)]) == {}
        [(due, organisation)] = listings.due_listings()
        assert (due, organisation) == (version.pk, version.organisation_id)
        listings.add_listing(due)
        assert list(listings.due_listings()) == []
        listings.add_listing(due)
        version.refresh_from_db()
        assert bytes(version.listing_sha256 or b"") == digest
        [source] = copy_sources([mount_of(version)]).values()
    assert (source.name, source.size, source.files, source.digest) == ("digits v1", 4, 1, digest.hex())


def test_a_listing_goes_with_its_dataset(world: World) -> None:
    version = make_version(world)
    path = data_root() / listings.listing_path(version.organisation_id, version.pk)
    with acting(world.actor):
        datasets.delete(world.actor, version.dataset)
        datasets.purge(world.actor, version.dataset)
    assert not path.exists()


# What a machine is told


def test_only_versions_are_copied_and_only_where_zone_and_agent_keep_copies(world: World) -> None:
    version, volume = make_version(world), make_volume(world.actor, "work")
    mounts = [mount_of(version), volumes.mount_of(volume, "/volumes/work", read_only=True)]
    with acting(platform()):
        assert mount_copies(world.node, mounts) == {}
        Node.objects.filter(pk=world.node.pk).update(dataset_cache=TELLS)
        world.node.refresh_from_db()
        assert mount_copies(world.node, mounts) == {}
        keeps(world.node, gib=3)
        [(source, copy)] = mount_copies(world.node, mounts).items()
        assert source == version.relative_path
        assert (copy.name, copy.size, copy.files, copy.cache_mib) == ("digits v1", 4, 1, 3072)
        Node.objects.filter(pk=world.node.pk).update(dataset_cache={})
        world.node.refresh_from_db()
        assert mount_copies(world.node, mounts) == {}


def test_the_launch_says_it_and_changes_nothing_else(world: World) -> None:
    workload = waiting(world, make_version(world))
    attempt = Attempt(workload=workload, node=world.node, number=1)
    with acting(platform()):
        [plain] = launch_request(attempt).mounts
        assert plain.copy is None
        keeps(world.node)
        [mount] = launch_request(attempt).mounts
    assert mount.copy is not None
    assert (mount.subpath, mount.target, mount.read_only) == (plain.subpath, plain.target, True)


def test_what_a_node_keeps_is_no_news_for_the_scheduler(world: World) -> None:
    before = topology_version.digest(db_now(), False)
    keeps(world.node)
    assert topology_version.digest(db_now(), False) == before


@pytest.mark.parametrize(
    "report",
    [None, [], {}, {"entries": 3}, {**TELLS, "count": -1}, {**TELLS, "count": "1"}, {**TELLS, "used_bytes": None}],
)
def test_a_broken_report_is_none(report: object) -> None:
    assert dataset_caches.reported(report) == {}


def test_a_report_is_kept_as_far_as_it_makes_sense() -> None:
    entry = {"organisation": "o", "digest": "d", "bytes": 3}
    kept = dataset_caches.reported({**TELLS, "entries": [entry, {"organisation": 3}, "x"], "more": 1})
    assert kept == {**TELLS, "entries": [["o", "d"]]}
    many = dataset_caches.reported({**TELLS, "entries": [entry] * 900})
    assert len(many["entries"]) == dataset_caches.MOST_ENTRIES


def test_an_agent_keeps_no_more_than_the_platform_says(tmp_path: Any) -> None:
    cache = DatasetCache(tmp_path)
    tree = cache.folder / "a"
    tree.mkdir(parents=True)
    (tree / "record.json").write_text(json.dumps({"size": 2 << 20}))
    for answer in ({}, {"dataset_cache_mib": "0"}, {"dataset_cache_mib": 2}):
        trim_datasets(tmp_path, answer)
        assert tree.exists()
    trim_datasets(tmp_path, {"dataset_cache_mib": 1})
    assert not tree.exists()


# What people read


def test_who_waits_reads_what_is_copied_first_and_how_long_it_takes(world: World) -> None:
    version = make_version(world)
    workload = waiting(world, version)
    with acting(platform()):
        assert coming_copy(workload, None) is None
        keeps(world.node)
        assert coming_copy(workload, None) == CopyOutlook(4, None)
        keeps(world.node, bytes_per_s=2)
        assert coming_copy(workload, None) == CopyOutlook(4, 2.0)
        keeps(make_node(name="fast"), bytes_per_s=400)
        assert coming_copy(workload, None) == CopyOutlook(4, 2.0)  # promised is what the slowest does
        notes = {step["label"]: step["note"] for step in startup_steps(workload, None)}
        assert notes["Files"] == "copies up to 4 B of datasets first, about 2 s"
        attempt = Attempt(workload=workload, node=world.node, number=1)
        workload.status = Status.PLACED
        assert coming_copy(workload, attempt) == CopyOutlook(4, 2.0)
        keeps(world.node, entries=has(version))
        attempt.node = world.node
        assert coming_copy(workload, attempt) is None
        workload.status = Status.RUNNING
        assert coming_copy(workload, None) is None


def test_a_copy_of_another_organisation_counts_for_nobody_else(world: World) -> None:
    version = make_version(world)
    with acting(platform()):
        sources = list(copy_sources([mount_of(version)]).values())
        keeps(world.node, entries=[[str(uuid4()), sources[0].digest]])
        assert copy_outlook(sources, [world.node]) == CopyOutlook(4, None)
        keeps(world.node, entries=has(version))
        assert copy_outlook(sources, [world.node]) is None
        assert copy_outlook(sources, []) is None


def test_the_words_have_a_time_once_one_is_known() -> None:
    assert outlook_words(CopyOutlook(4_000_000_000, None)) == "copies up to 4 GB of datasets first"
    assert outlook_words(CopyOutlook(4_000_000_000, 126.0)) == "copies up to 4 GB of datasets first, about 2 min 06 s"


def test_the_quote_says_it_for_what_the_actor_may_mount(world: World) -> None:
    version = make_version(world)
    chosen = [Chosen(RootKind.VERSION, version.pk), Chosen(RootKind.VOLUME, uuid4())]
    card: dict[str, Any] = {"rows": [{"label": "Price"}]}
    with acting(world.actor):
        assert with_copies(world.actor, card, chosen) == card
        keeps(world.node, bytes_per_s=1)
        assert with_copies(world.actor, {}, chosen) == {}
        assert with_copies(world.actor, card, []) == card
        assert with_copies(world.actor, card, [Chosen(RootKind.VERSION, uuid4())]) == card
        row = with_copies(world.actor, card, chosen)["rows"][-1]
        assert (row["label"], row["value"]) == ("Copied to the machine first", "4 B")
        assert row["sub"] == "about 4 s; free of charge, and at once where the machine has it"


@pytest.mark.parametrize("path", ["/training/quote/", "/environments/quote/"])
def test_the_pages_quote_it(world: World, client: Client, path: str) -> None:
    version = make_version(world)
    keeps(world.node)
    client.force_login(world.alice)
    data = {"package": world.package.pk, "image": world.image.pk, "dataset": str(version.pk)}
    assert "Copied to the machine first" in client.post(path, data).content.decode()
    del data["dataset"]
    assert "Copied to the machine first" not in client.post(path, data).content.decode()


def test_the_api_quotes_it(world: World, client: Client) -> None:
    version = make_version(world)
    keeps(world.node, bytes_per_s=2)
    client.force_login(world.alice)
    path, asked = "/api/v1/training/quote/", {"package": world.package.pk}
    assert client.post(path, asked, "application/json").json()["copies"] is None
    mounts = [{"kind": "version", "id": str(version.pk)}]
    answer = client.post(path, {**asked, "mounts": mounts}, "application/json").json()
    assert answer["copies"] == {"bytes": 4, "seconds": 2.0}
    other = [{"kind": "version", "id": str(uuid4())}]
    assert client.post(path, {**asked, "mounts": other}, "application/json").json()["copies"] is None


def test_progress_says_how_much_is_there_and_how_long_it_takes() -> None:
    said = Said(Code.COPYING_DATASET, {"name": "birds v3", "size_bytes": 4_000_000_000})
    told = {"text": str(said), "fraction": 0.3, "said": said.as_json(), "left_s": 126.0}
    attempt = Attempt(progress=told)
    assert progress_text(attempt) == "Copying dataset birds v3: 1.2 GB of 4 GB, about 2 min 06 s"
    shown = ProgressField().to_representation(told)
    assert shown == {"text": "Copying dataset birds v3: 1.2 GB of 4 GB", "fraction": 0.3, "left_s": 126.0}
    assert ProgressField().to_representation({}) == {}
    attempt.progress = {"text": "Collecting x", "fraction": 0.5}
    assert progress_text(attempt) == "Collecting x · 50%"
