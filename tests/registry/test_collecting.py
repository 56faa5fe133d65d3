"""Collections by the real registry: what they remove, what they leave alone, and what becomes of them."""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.distribution import collecting, deleting, pushes
from apps.registry.models import Collection, ImageManifest, ImageRepository, ImageTag
from apps.tenants.choices import PlatformRole
from apps.tenants.models import User
from plstack.launch import collecting as supervising
from plstack.launch.collecting import Collector, Step
from tests.builders import actor_of, make_staff, platform, signed_in, staff_actor
from tests.drivers.registries import digest_of
from tests.registry import serving
from tests.registry.collected import collect, collector, gather
from tests.registry.pushing import ALONE, FIRST, SECOND, SHARED, Pusher
from tests.registry.serving import Site
from tests.registry.test_registry_tokens import Person

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not serving.PROGRAM, reason="needs docker-registry"),
]


def stored(site: Site) -> set[str]:
    return {f"sha256:{path.parent.name}" for path in (site.storage / "blobs" / "sha256").glob("*/*/data")}


def delete_tag(alice: Person, tag: str) -> None:
    tasks.read()
    actor = actor_of(alice.user, alice.organisation)
    with acting(actor):
        deleting.delete_tag(actor, ImageTag.objects.get(name=tag).pk)


def forget_pushes(site: Site) -> None:
    """As if all that was pushed had been pushed long ago."""
    for path in (site.home / pushes.FOLDER).iterdir():
        os.utime(path, (0, 0))


def test_the_layers_of_a_deleted_image_go_and_those_that_another_has_stay(
    site: Site, alice: Person, staff: User, pusher: Pusher
) -> None:
    pusher.push(FIRST, "1")
    pusher.push(SECOND, "2")
    delete_tag(alice, "1")
    forget_pushes(site)
    assert set(map(digest_of, (SHARED, ALONE))) <= stored(site)
    done = collect(site, staff)
    assert (done.problem, done.blobs) == ("", 3)
    assert done.freed == len(ALONE) + len(FIRST.blobs[0]) + len(FIRST.manifest)
    assert stored(site) == {SECOND.digest, *map(digest_of, SECOND.blobs)}
    assert pusher.is_whole("2")
    assert not pusher.is_whole(FIRST.digest)
    pusher.push(FIRST, "1")  # whose layers nobody says are there
    assert pusher.is_whole("1")
    with acting(platform()):
        assert Entry.objects.get(action="registry.collection_asked").actor_id == staff.pk


def test_an_image_that_lost_its_tag_stays(site: Site, alice: Person, staff: User, pusher: Pusher) -> None:
    pusher.push(FIRST, "1")
    pusher.push(SECOND, "1")
    forget_pushes(site)
    assert collect(site, staff).blobs == 0
    assert pusher.is_whole(FIRST.digest)


def test_a_push_goes_on_after_a_collection_in_its_middle(site: Site, staff: User, pusher: Pusher) -> None:
    pusher.begin(FIRST)
    assert collect(site, staff).problem == ""
    assert pusher.end(FIRST, "1") == 201
    assert pusher.is_whole("1")


def test_what_a_push_was_told_is_there_stays_for_it(site: Site, alice: Person, staff: User, pusher: Pusher) -> None:
    pusher.push(FIRST, "1")
    delete_tag(alice, "1")
    forget_pushes(site)
    assert pusher.begin(FIRST) == []
    collect(site, staff)
    assert pusher.end(FIRST, "2") == 201
    assert pusher.is_whole("2")


def test_what_was_left_by_a_push_long_ago_goes(site: Site, staff: User, pusher: Pusher) -> None:
    pusher.push(SECOND, "2")
    pusher.begin(FIRST)
    forget_pushes(site)
    assert collect(site, staff).blobs == 2
    assert pusher.end(FIRST, "1") == 404 or not pusher.is_whole("1")
    pusher.push(FIRST, "1")
    assert pusher.is_whole("1")


def test_who_pulls_or_pushes_meanwhile_waits_and_is_answered(site: Site, staff: User, pusher: Pusher) -> None:
    pusher.push(FIRST, "1")
    answers: list[int] = []
    ended = threading.Event()

    def pull() -> None:
        while not ended.is_set():
            answers.append(pusher.ask("GET", "manifests/1")[0])

    thread = threading.Thread(target=pull)
    thread.start()
    try:
        done = collect(site, staff)
    finally:
        ended.set()
        thread.join(60)
    assert done.away_ms > 0
    assert set(answers) == {200}
    assert not pushes.is_collecting()


def test_it_waits_while_bytes_go_through_and_gives_up_in_words(
    site: Site, staff: User, pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    pusher.push(FIRST, "1")
    process = site.server
    ours = collector(site, quiet_s=60)
    (site.home / pushes.FOLDER / pushes.MOVING).touch()
    actor = staff_actor(staff)
    with acting(actor):
        asked = collecting.ask(actor)
    tasks.collect()
    ours.tick()
    ours.tick()
    assert ours.step is Step.WAITING
    assert site.server is process
    monkeypatch.setattr(supervising, "PATIENCE_S", 0.0)
    ours.tick()
    tasks.collect()
    asked.refresh_from_db()
    assert (asked.problem, site.server.poll()) == ("busy", None)


def test_a_collection_that_the_registry_cannot_do_is_told_and_the_registry_is_back(
    site: Site, alice: Person, staff: User, pusher: Pusher
) -> None:
    pusher.push(FIRST, "1")
    manifest = site.storage / "blobs" / "sha256" / FIRST.digest[7:9] / FIRST.digest[7:] / "data"
    kept = manifest.read_bytes()
    manifest.write_bytes(b"not a manifest")
    assert collect(site, staff).problem == "failed"
    manifest.write_bytes(kept)
    assert pusher.is_whole("1")
    assert collect(site, staff).problem == ""


def test_what_a_killed_collection_leaves_is_cleared_by_the_next(site: Site, staff: User, pusher: Pusher) -> None:
    pusher.begin(FIRST)
    ours = collector(site)
    ours.store.keep([digest_of(ALONE).removeprefix("sha256:")])
    pushes_marker = Path(f"{site.registry.socket}{pushes.COLLECTING}")
    pushes_marker.touch()
    collector(site)
    assert not pushes_marker.exists()
    tasks.read()
    with acting(platform()):
        assert not ImageRepository.objects.exists()
    forget_pushes(site)
    collect(site, staff)
    assert not (site.storage / "repositories" / "plstack-kept").exists()


def test_only_one_is_on_at_a_time(site: Site, staff: User) -> None:
    actor = staff_actor(staff)
    with acting(actor):
        collecting.ask(actor)
        with pytest.raises(Conflict, match="on already"):
            collecting.ask(actor)
    assert Collection.objects.count() == 1


def test_an_empty_registry_is_collected_too(site: Site, staff: User) -> None:
    done = collect(site, staff)
    assert (done.problem, done.blobs) == ("", 0)


def test_one_that_nobody_answers_ends(site: Site, staff: User) -> None:
    actor = staff_actor(staff)
    with acting(actor):
        asked = collecting.ask(actor)
    tasks.collect()
    assert (site.home / collecting.FOLDER / collecting.ASKED).exists()
    Collection.objects.update(asked_at=Now() - timedelta(hours=2))
    tasks.collect()
    asked.refresh_from_db()
    assert asked.problem == "unanswered"
    assert not (site.home / collecting.FOLDER / collecting.ASKED).exists()


def test_a_registry_that_runs_elsewhere_is_not_ours_to_collect(site: Site, staff: User, settings: LazySettings) -> None:
    settings.REGISTRY_SOCKET = ""
    actor = staff_actor(staff)
    with acting(actor), pytest.raises(Conflict, match="does not run"):
        collecting.ask(actor)
    page = signed_in(staff).get("/console/registry/").content.decode()
    assert "its operator collects" in page


@pytest.fixture
def half_past_noon() -> Iterator[None]:
    """Here: no test takes half an hour, and none ends in another hour than it began."""
    now = datetime.now(UTC)
    with timezone.override(timezone.get_fixed_timezone(12 * 60 + 30 - 60 * now.hour - now.minute)):
        yield


@pytest.mark.usefixtures("half_past_noon")
def test_the_schedule_asks_at_night_after_something_was_deleted(
    site: Site, alice: Person, staff: User, pusher: Pusher, settings: LazySettings
) -> None:
    settings.REGISTRY_COLLECTION_HOUR = 0
    pusher.push(FIRST, "1")
    tasks.collect()
    assert not Collection.objects.exists()
    settings.REGISTRY_COLLECTION_HOUR = 12
    tasks.collect()
    gather(site)
    assert Collection.objects.get().asked_by is None
    Collection.objects.update(asked_at=Now() - timedelta(hours=23))
    tasks.collect()
    assert Collection.objects.count() == 1, "nothing was deleted"
    delete_tag(alice, "1")
    tasks.collect()
    gather(site)
    assert Collection.objects.count() == 2
    tasks.collect()
    assert Collection.objects.count() == 2, "once a night"


def test_administrators_of_images_see_and_ask_on_the_page_and_in_the_api(site: Site, staff: User) -> None:
    client = signed_in(staff)
    assert "Nothing was collected yet." in client.get("/console/registry/").content.decode()
    assert "being pushed" in client.get("/console/registry/collect/").content.decode()
    assert client.post("/console/registry/collect/").status_code == 302
    assert client.post("/api/v1/console/registry/collections/").status_code == 409
    gather(site)
    (row,) = client.get("/api/v1/console/registry/collections/").json()["results"]
    assert (row["problem"], row["asked_by"]["username"]) == ("", staff.username)
    assert client.post("/api/v1/console/registry/collections/").status_code == 201
    assert Collection.objects.filter(ended_at__isnull=True).count() == 1
    other = signed_in(make_staff(PlatformRole.FINANCE, "finn"))
    assert other.get("/console/registry/").status_code == 403
    assert other.post("/api/v1/console/registry/collections/").status_code == 403
    assert Client().post("/api/v1/console/registry/collections/").status_code == 401


def test_what_the_registry_did_not_tell_in_time_is_read_after_it(site: Site, staff: User, pusher: Pusher) -> None:
    pusher.push(FIRST, "1")
    tasks.read()
    with acting(platform()):
        ImageManifest.objects.all().delete()
        collect(site, staff)
        assert ImageManifest.objects.filter(digest=FIRST.digest).exists()


def test_a_request_that_is_no_json_is_thrown_away(site: Site) -> None:
    ours: Collector = collector(site)
    folder = site.home / collecting.FOLDER
    folder.mkdir()
    (folder / collecting.ASKED).write_text("[")
    ours.tick()
    assert ours.step is Step.IDLE
    assert not (folder / collecting.ASKED).exists()
