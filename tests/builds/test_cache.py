"""The cache of build steps on a real machine: what is taken from it, what never is, and what bounds it."""

import json
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.audit.models import Entry
from apps.builds.cache.keeping import keep_ended
from apps.builds.cache.offering import FOUND
from apps.builds.models import Build, CachedStep
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.storage.objects import collect_garbage, object_path
from apps.storage.services import root_of
from apps.workloads.terminal.sessions import record_opened
from tests.builders import World, actor_of, make_member, make_organisation, platform
from tests.builds.kit import build
from tests.builds.machine import ended, log_of, said_in
from tests.drivers.registries import BUSYBOX

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed"),
]
TEXT = """FROM box
WORKDIR /app
RUN echo first > one; rm /bin/dd; echo passed > /tmp/on; touch /run/here; chmod 600 one
RUN cat /tmp/on /srv/kept > two; ls /run/here >> two; ls /app >> two; sh -c 'sleep 600 &'
"""
LOOK = "cd /app; cat one two; stat -c '%n %a' *; ls /bin/dd 2>&1; ls /tmp"


def done(made: Build) -> Build:
    """Ended, and what it kept of its steps taken over."""
    over = ended(made)
    with acting(platform()):
        keep_ended()
    return over


def taken(made: Build) -> list[str]:
    """Which steps the log says were taken from the cache."""
    lines = [line for line in log_of(made.workload).splitlines() if line.endswith("from cache")]
    return [line.partition("/")[0].strip("[") for line in lines]


def seen_in(world: World, image: Image) -> list[str]:
    """Its files, but for what the platform says before."""
    lines = said_in(world, image, "sh", "-c", LOOK).splitlines()
    return [line for line in lines if not line.startswith("[plstack]")]


def succeeded(made: Build) -> Build:
    assert made.workload.status == "succeeded", log_of(made.workload)
    assert made.image is not None
    return made


def test_an_unchanged_beginning_is_taken_and_makes_the_same_files(world: World, box: Image, alice: Client) -> None:
    first = succeeded(done(build(world, TEXT)))
    assert taken(first) == []
    again = succeeded(done(build(world, f"# a comment\n{TEXT}RUN echo new > three\n")))
    assert taken(again) == ["1", "2", "3"]
    without = succeeded(done(build(world, f"{TEXT}RUN echo new > three\n", without_cache=True)))
    assert taken(without) == []
    assert again.image is not None
    assert without.image is not None
    assert seen_in(world, again.image) == seen_in(world, without.image)
    assert alice.get(f"/api/v1/builds/{again.pk}/").json()["cached_steps"] == 3
    assert "3 of 4 steps were taken from the cache" in alice.get(f"/builds/{again.pk}/").content.decode()
    told = alice.get(f"/api/v1/builds/{without.pk}/").json()
    assert (told["without_cache"], told["cached_steps"]) == (True, 0)


def test_steps_that_make_the_same_bytes_make_the_same_image_with_and_without(world: World, box: Image) -> None:
    text = "FROM box\nRUN echo 1 > /one; touch -d '2020-01-01 00:00:00' /one\n"
    text += "RUN rm /bin/dd; ln /one /two; ln -s one /three; touch -h -d '2020-01-01 00:00:00' /three\n"
    digests = set()
    for order in ({"without_cache": True}, {}, {}):
        made = succeeded(done(build(world, text, **order)))
        assert made.image is not None
        digests.add(made.image.reference)
    assert len(digests) == 1
    assert taken(made) == ["1", "2"]


def test_what_changes_a_step_is_carried_out_with_all_after_it(world: World, box: Image) -> None:
    done(build(world, TEXT))
    changed = succeeded(done(build(world, TEXT.replace("echo first", "echo other"))))
    assert taken(changed) == ["1"]
    assert changed.image is not None
    assert "other\npassed\n" in said_in(world, changed.image, "sh", "-c", LOOK)


def test_a_copied_file_that_changes_is_copied_anew(world: World, box: Image) -> None:
    for content, expected in ((b"a", []), (b"a", ["1", "2"]), (b"b", [])):
        with acting(world.actor):
            files = storage.add_code(world.actor, None, [SimpleUploadedFile("data", content)])
        made = succeeded(done(build(world, "FROM box\nCOPY data /data\nRUN cat /data > /seen\n", files=files.pk)))
        assert taken(made) == expected
        assert made.image is not None
        assert content.decode() in said_in(world, made.image, "cat", "/seen", "/data")


def test_the_steps_before_one_that_fails_are_kept(world: World, box: Image) -> None:
    failed = done(build(world, "FROM box\nRUN echo 1 > /one\nRUN exit 3\n"))
    assert failed.workload.status == "failed"
    assert taken(succeeded(done(build(world, "FROM box\nRUN echo 1 > /one\nRUN echo 2 > /two\n")))) == ["1"]


def test_nothing_of_it_is_left_behind(world: World, box: Image) -> None:
    made = done(build(world, TEXT))
    with acting(platform()):
        row = Build.objects.get(pk=made.pk)
        assert (row.cached, row.kept) == (None, None)
        assert not Folder.objects.filter(pk__in=[made.cached_id, made.kept_id]).exists()
        assert CachedStep.objects.count() == 3


def test_a_damaged_entry_and_one_that_is_gone_are_carried_out_anew(world: World, box: Image) -> None:
    done(build(world, TEXT))
    with acting(platform()):
        second, _third = CachedStep.objects.order_by("number")[1:]
        place = object_path(second.organisation_id, bytes.fromhex(second.digest))
        place.chmod(0o644)
        place.write_bytes(place.read_bytes()[:-100] + b"x" * 100)
    assert taken(succeeded(done(build(world, TEXT)))) == ["1"]
    with acting(platform()):
        for row in CachedStep.objects.filter(number=1):
            object_path(row.organisation_id, bytes.fromhex(row.digest)).unlink()
    assert taken(succeeded(done(build(world, TEXT)))) == []
    assert taken(succeeded(done(build(world, TEXT)))) == ["1", "2", "3"], "and kept in their place"


def test_it_never_crosses_organisations(world: World, box: Image) -> None:
    done(build(world, TEXT))
    with acting(platform()):
        CachedStep.objects.update(organisation_id=make_organisation().pk)
    assert taken(succeeded(done(build(world, TEXT)))) == []


def test_colleagues_share_it(world: World, box: Image) -> None:
    done(build(world, TEXT))
    with acting(platform()):
        colleague = actor_of(make_member(world.organisation, "bea"))
    made = succeeded(done(build(world, TEXT, actor=colleague)))
    assert taken(made) == ["1", "2", "3"]


def test_what_was_used_longest_ago_goes_first_and_all_of_it_fits(
    world: World, box: Image, settings: LazySettings
) -> None:
    settings.BUILD_CACHE_BYTES = 3 << 20
    text = "FROM box\nRUN dd if=/dev/zero of=/{0} bs=1M count=1\n"
    first, second = (text.format(name) for name in ("first", "second"))
    done(build(world, first))
    done(build(world, second))
    done(build(world, first))
    done(build(world, text.format("third")))
    with acting(platform()):
        sizes = list(CachedStep.objects.values_list("size_bytes", flat=True))
    assert len(sizes) == 2
    assert sum(sizes) <= settings.BUILD_CACHE_BYTES
    assert taken(succeeded(done(build(world, first)))) == ["1"]
    assert taken(succeeded(done(build(world, second)))) == []


def test_a_step_that_is_too_large_to_keep_does_no_harm(world: World, box: Image, settings: LazySettings) -> None:
    settings.BUILD_CACHE_BYTES = 1 << 20
    text = "FROM box\nRUN echo 1 > /one\nRUN dd if=/dev/zero of=/big bs=1M count=2\nRUN echo 3 > /three\n"
    succeeded(done(build(world, text)))
    assert taken(succeeded(done(build(world, text)))) == ["1"]


@pytest.mark.parametrize(
    "step",
    [
        "kill -9 $PPID; kill -9 1; for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done; sleep 1",
        "rm -rf /opt/plstack-build/kept/* ; (sleep 1; echo late > /opt/plstack-build/kept/1/layer.tar) & exit 1",
        "for fd in /proc/$PPID/fd/*; do echo overwritten > $fd; done; true",
    ],
)
def test_a_step_changes_nothing_of_what_earlier_ones_kept(world: World, box: Image, step: str) -> None:
    """It shares their user id; what it plants, writes over or kills gives no other build anything else."""
    planted = "mkdir -p /opt/plstack-build/kept/1; echo planted > /opt/plstack-build/kept/1/layer.tar"
    lie = 'echo \'{"done": true, "machine": "x86_64"}\' > /opt/plstack-build/answers/result.json'
    done(build(world, f"FROM box\nRUN echo 1 > /one\nRUN {planted}; {lie}; {step}\n"))
    made = succeeded(done(build(world, "FROM box\nRUN echo 1 > /one\nRUN echo 2 > /two\n")))
    assert "failed" not in log_of(made.workload)
    assert made.image is not None
    assert "1\n2\n" in said_in(world, made.image, "cat", "/one", "/two")


def test_nothing_is_kept_of_a_build_that_somebody_looked_into(world: World, box: Image) -> None:
    made = build(world, TEXT)
    with acting(world.actor):
        record_opened(world.actor, made.workload, 0)
    done(made)
    with acting(platform()):
        assert Entry.objects.filter(action="terminal.opened").exists()
        assert not CachedStep.objects.exists()


def test_what_a_removed_entry_held_goes_from_the_disk(world: World, box: Image, settings: LazySettings) -> None:
    made = done(build(world, TEXT))
    with acting(platform()):
        digests = [bytes.fromhex(row.digest) for row in CachedStep.objects.all()]
        settings.BUILD_CACHE_BYTES = 1
        done(build(world, "FROM box\nRUN true; echo x > /x\n"))
        collect_garbage()
        assert not CachedStep.objects.exists()
        assert not [key for key in digests if object_path(made.organisation_id, key).exists()]


def test_without_room_there_is_no_cache(world: World, box: Image, settings: LazySettings, alice: Client) -> None:
    settings.BUILD_CACHE_BYTES = 0
    assert 'name="without_cache"' not in alice.get("/builds/new/").content.decode()
    made = succeeded(done(build(world, TEXT)))
    assert (made.cached, made.kept, made.step_keys) == (None, None, [])


def test_the_plan_names_what_is_found_and_no_secrets_are_there(world: World, box: Image) -> None:
    done(build(world, TEXT))
    made = build(world, TEXT)
    assert made.cached is not None
    told = json.loads((root_of(made.cached) / FOUND).read_text())
    assert [len(told[step]) for step in ("1", "2", "3")] == [1, 1, 1]
    assert not made.workload.frozen_spec.secrets


def test_the_page_asks_whether_it_is_built_without(world: World, box: Image, alice: Client) -> None:
    page = alice.get("/builds/new/").content.decode()
    assert 'name="without_cache"' in page
    asked = {"name": "tools", "source": "containerfile", "containerfile": TEXT, "key": uuid4().hex}
    asked |= {"package": str(world.package.pk), "without_cache": "on"}
    assert alice.post("/builds/new/", asked).status_code == 302
    with acting(platform()):
        made = Build.objects.get()
    assert (made.without_cache, made.kept) == (True, None)
    again = alice.get(f"/builds/new/?from={made.pk}").content.decode()
    assert "checked" in again.partition('name="without_cache"')[2][:200]


def test_who_manages_the_images_sees_how_much_it_holds_and_empties_it(
    world: World, box: Image, alice: Client, dora: Client, settings: LazySettings
) -> None:
    done(build(world, TEXT))
    told = alice.get("/api/v1/builds/cache/").json()
    assert told["steps"] == 3
    assert 0 < told["used_bytes"] < told["limit_bytes"] == settings.BUILD_CACHE_BYTES
    assert alice.delete("/api/v1/builds/cache/").status_code == 403
    assert alice.post("/builds/cache/empty/").status_code == 403
    assert "/builds/cache/empty/" not in alice.get("/builds/").content.decode()
    with acting(platform()):
        assert CachedStep.objects.count() == 3
    assert "/builds/cache/empty/" in dora.get("/builds/").content.decode()
    assert "What 3 steps have made" in dora.get("/builds/cache/empty/").content.decode()
    queued = build(world, TEXT)
    assert dora.post("/builds/cache/empty/").status_code == 302
    with acting(platform()):
        assert not CachedStep.objects.exists()
        entry = Entry.objects.get(action="builds.cache_emptied")
        assert (entry.organisation_id, entry.after["steps"]) == (world.organisation.pk, 3)
    assert alice.get("/api/v1/builds/cache/").json()["used_bytes"] == 0
    assert taken(succeeded(done(queued))) == ["1", "2", "3"], "it had them before"
