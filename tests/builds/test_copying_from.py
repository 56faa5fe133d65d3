"""COPY --from on a real machine: stages in images of their own, one after the other in one sandboxed task."""

import pytest
from django.test import Client

from apps.builds import services
from apps.builds.cache.keeping import keep_ended
from apps.builds.models import Build, CachedStep
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.storage.models import Folder
from tests.builders import World, platform
from tests.builds.kit import build
from tests.builds.machine import ended, log_of, nothing_held, said_in
from tests.drivers.registries import BUSYBOX, Registry, busybox, layer
from tests.workloads.loops import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed"),
]
TEXT = """FROM other AS build
WORKDIR /src
RUN cat /of-other > tool; ln tool same; chmod 755 tool; echo tmp > /tmp/left; touch /only-here
FROM absent AS unused
RUN exit 3
FROM box
COPY --from=build /src /srv/src
COPY --from=0 --chmod=0700 /src/tool /src/sa* /bin/
COPY --from=data etc/conf/*.txt /conf/
RUN cat /bin/tool /conf/a.txt > /told; ls /only-here /tmp/left >> /told 2>&1; true
"""
LOOK = "cat /told; stat -c '%a %h %n' /srv/src/tool /bin/tool; ls /conf; cat /srv/kept"


@pytest.fixture
def other(box: Image, pushed: Registry) -> list[Image]:
    """An image of other files, and one that has no program at all."""
    found = {
        "other": pushed.image(busybox("sh", "cat", "ln", "chmod", "echo", "touch", "sleep", "rm", "mkdir", "true"),
                              layer(("of-other", b"from the other one\n")), Env=["PATH=/bin"]),
        "data": pushed.image(layer(("etc/conf/a.txt", b"data\n"), ("etc/conf/b.cfg", b"no\n"))),
    }  # fmt: skip
    with acting(platform()):
        return [
            Image.objects.create(
                key=name, name=name, description_en=name, description_zh=name, reference=reference.name
            )
            for name, reference in found.items()
        ]


def done(made: Build) -> Build:
    over = ended(made)
    with acting(platform()):
        keep_ended()
    return over


def succeeded(made: Build) -> Image:
    assert made.workload.status == "succeeded", log_of(made.workload)
    assert made.image is not None
    return made.image


def taken(made: Build) -> list[str]:
    lines = [line for line in log_of(made.workload).splitlines() if line.endswith("from cache")]
    return [line.partition("/")[0].strip("[") for line in lines]


def test_files_of_stages_and_images_are_taken_and_nothing_else(
    world: World, box: Image, other: list[Image], alice: Client
) -> None:
    made = done(build(world, TEXT))
    image = succeeded(made)
    log = log_of(made.workload)
    assert "Stage build, which begins on other:" in log
    assert "RUN exit 3" not in log
    told = said_in(world, image, "sh", "-c", LOOK)
    assert "from the other one\ndata\n" in told
    assert told.count("No such file") == 2, "a stage leaves what is taken of it, and nothing more"
    assert "755 2 /srv/src/tool\n700 2 /bin/tool\na.txt\nof the base\n" in told
    assert nothing_held(made)
    with acting(platform()):
        row = Build.objects.get(pk=made.pk)
        assert (row.passed_on, row.kept, row.cached) == (None, None, None)
        assert not Folder.objects.filter(pk=made.passed_on_id).exists()
    answer = alice.get(f"/api/v1/builds/{made.pk}/").json()
    assert answer["stages"] == [
        {"name": "build", "base": "other"}, {"name": "data", "base": "data"}, {"name": "2", "base": "box"}
    ]  # fmt: skip
    assert [step["stage"] for step in answer["steps"]] == ["build"] * 2 + ["2"] * 4


def test_each_stage_is_cached_and_what_changes_one_counts_where_its_files_are_taken(
    world: World, box: Image, other: list[Image]
) -> None:
    first = done(build(world, TEXT))
    assert taken(first) == []
    again = done(build(world, f"# why\n{TEXT}RUN echo > /new\n"))
    assert taken(again) == ["1", "2", "3", "4", "5", "6"]
    look = said_in(world, succeeded(first), "sh", "-c", LOOK).splitlines()[-8:]
    assert said_in(world, succeeded(again), "sh", "-c", LOOK).splitlines()[-8:] == look
    changed = done(build(world, TEXT.replace("touch /only-here", "touch /only-there")))
    assert taken(changed) == ["1"]
    last = done(build(world, TEXT.replace("RUN cat /bin", "RUN true; cat /bin")))
    assert taken(last) == ["1", "2", "3", "4", "5"]
    with acting(platform()):
        assert {row.number for row in CachedStep.objects.all()} == {1, 2, 3, 4, 5, 6, 7}


def test_what_two_stages_begin_with_is_carried_out_once(world: World, box: Image) -> None:
    text = """FROM box AS base
RUN cat /proc/sys/kernel/random/uuid > /drawn
FROM base AS build
RUN echo 1 > /one
FROM base
COPY --from=build /drawn /theirs
RUN cat /drawn /theirs > /both
"""
    made = done(build(world, text))
    assert taken(made) == ["3"]
    lines = said_in(world, succeeded(made), "cat", "/both").splitlines()[-2:]
    assert lines[0] == lines[1]
    twice = done(build(world, text, without_cache=True))
    assert taken(twice) == []
    lines = said_in(world, succeeded(twice), "cat", "/both").splitlines()[-2:]
    assert lines[0] != lines[1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("COPY --from=build /absent /x", "/absent is not in the stage"),
        ("COPY --from=build /proc/version /x", "none of the stage's files"),
        ("COPY --from=build /etc/hosts /x", "none of the stage's files"),
        ("COPY --from=build /out /x", "/out leads to /opt/plstack-build/plan"),
        ("COPY --from=build /away /x", "/away is not in the stage"),
    ],
)
def test_what_is_none_of_its_files_fails_beside_the_line_that_takes_it(
    world: World, box: Image, other: list[Image], alice: Client, line: str, words: str
) -> None:
    text = "FROM other AS build\nRUN ln -s /opt/plstack-build/plan /out; ln -s /srv/kept /away\nFROM box\nRUN true\n"
    made = done(build(world, f"{text}{line}\n"))
    assert (made.workload.status, made.image) == ("failed", None)
    assert words in log_of(made.workload)
    assert "RUN true" not in log_of(made.workload)
    assert "Line 5 failed" in alice.get(f"/builds/{made.pk}/").content.decode()
    assert nothing_held(made)


def test_a_step_of_a_stage_that_fails_ends_all_and_is_named(
    world: World, box: Image, other: list[Image], alice: Client
) -> None:
    made = done(build(world, TEXT.replace("touch /only-here", "exit 7")))
    assert (made.workload.status, made.image) == ("failed", None)
    page = alice.get(f"/builds/{made.pk}/").content.decode()
    assert "Line 3 failed" in page
    assert alice.get(f"/api/v1/builds/{made.pk}/").json()["failed_step"] == 2
    with acting(platform()):
        assert CachedStep.objects.count() == 1


def test_no_step_changes_what_another_stage_has_left(world: World, box: Image, other: list[Image]) -> None:
    """Neither what it passes on, nor what it keeps for other builds: it shares their user id alone."""
    attack = """rm -rf /opt/plstack-build/stages/0/* /opt/plstack-build/kept/0/*
echo planted > /opt/plstack-build/stages/0/0.tar; mkdir -p /opt/plstack-build/kept/0/1
echo planted > /opt/plstack-build/kept/0/1/layer.tar; true""".replace("\n", ";")
    text = f"FROM other AS build\nRUN echo good > /x\nFROM box\nRUN {attack}\nCOPY --from=build /x /x\n"
    made = done(build(world, text))
    assert "good\n" in said_in(world, succeeded(made), "cat", "/x")
    again = done(build(world, "FROM other AS build\nRUN echo good > /x\nFROM box\nCOPY --from=build /x /y\n"))
    assert taken(again) == ["1"]
    assert "good\n" in said_in(world, succeeded(again), "cat", "/y")


def test_it_is_stopped_in_a_stage_before(world: World, box: Image, other: list[Image]) -> None:
    text = "FROM other AS build\nRUN echo begun; sleep 600\nFROM box\nCOPY --from=build /x /x\n"
    made = build(world, text)
    with acting(platform()):
        until(made.workload, lambda _workload: "\nbegun" in log_of(made.workload), 60)
    with acting(world.actor):
        services.stop(world.actor, made)
    over = done(made)
    assert (over.workload.status, over.image) == ("stopped", None)
    assert nothing_held(over)
