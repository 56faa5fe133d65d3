"""Builds on a real machine: what a sandbox does with the steps, and what is left of those that fail."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from apps.builds.models import Build
from apps.builds.reconcile import saving
from apps.builds.reconcile.saving import save_built
from apps.builds.selectors import result
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.workloads import reach
from tests.builders import World, platform
from tests.builds.kit import build
from tests.builds.machine import ended, log_of, nothing_held, said_in
from tests.drivers.registries import BUSYBOX
from tests.workloads.loops import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed"),
]


def test_an_image_is_built_chosen_and_run(world: World, box: Image, alice: Client) -> None:
    text = """FROM box
ENV WHO=me PATH=/opt/bin:$PATH
RUN echo "uid $(id -u)"; chown 12:12 /srv/kept && mknod /dev-null c 1 3; echo as root > /root-file
RUN echo worker:x:1000:1000::/:/bin/sh >> /etc/passwd && mkdir -p /run/lock && touch /run/lock/x
WORKDIR /app
RUN echo "$WHO in $(pwd), $KIND, $PATH" > told && rm /bin/dd
LABEL maker=lab
CMD ["cat", "/app/told"]
"""
    made = ended(build(world, text))
    log = log_of(made.workload)
    assert made.workload.status == "succeeded", log
    assert "[1/4] line 3: RUN echo" in log
    assert "uid 0\n" in log
    assert "Saved as tools:1, sha256:" in log
    assert made.image is not None
    assert (made.image.name, made.image.owner, made.image.base) == ("tools:1", world.alice, box)
    assert nothing_held(made)
    assert "me in /app, box, /opt/bin:/bin\n" in said_in(world, made.image)  # its own command
    look = "cat /root-file /etc/passwd; pwd; ls /run/lock /bin/dd 2>&1; cat /srv/kept; echo $WHO"
    told = said_in(world, made.image, "sh", "-c", look)
    assert "as root\nroot:x:0:0" in told
    assert "worker:x:" in told
    assert "\n/app\n" in told
    assert told.count("No such file") == 2
    assert "of the base\nme\n" in told
    page = alice.get(f"/builds/{made.pk}/").content.decode()
    assert "The image is ready" in page
    assert made.image.reference in page
    assert alice.get("/api/v1/builds/").json()["results"][0]["reference"] == made.image.reference


def test_what_was_built_is_built_on(world: World, box: Image) -> None:
    first = ended(build(world, "FROM box\nRUN echo 1 > /one\n"))
    assert first.image is not None
    second = ended(build(world, f"FROM {first.image.reference}\nRUN echo 2 > /two\n"))
    assert second.image is not None
    assert (second.title, second.image.name) == ("tools:2", "tools:2")
    assert "1\n2\n" in said_in(world, second.image, "cat", "/one", "/two")


def test_a_chain_of_stages_is_one_image_and_the_others_are_not_carried_out(world: World, box: Image) -> None:
    text = """ARG FROM_HERE=box
FROM $FROM_HERE AS tools
ENV WHO=tools
RUN echo "$WHO" > /one
FROM absent:1 AS other
RUN exit 3
FROM tools
RUN cat /one > /two; echo last >> /two
"""
    made = ended(build(world, text))
    assert made.image is not None, log_of(made.workload)
    assert "tools\nlast\n" in said_in(world, made.image, "cat", "/two")
    early = ended(build(world, text, target="tools"))
    assert early.image is not None
    assert "No such file" in said_in(world, early.image, "sh", "-c", "ls /two 2>&1; cat /one")


def test_settings_alone_make_an_image(world: World, box: Image) -> None:
    made = ended(build(world, 'FROM box\nCMD ["echo", "only said"]\n'))
    assert made.image is not None
    assert "only said\n" in said_in(world, made.image)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("FROM box\nRUN true\nRUN apt-get install -y absent\n", 3, "apt-get"),
        ("FROM box\nRUN echo why >&2; exit 3\nRUN echo never\n", 2, "why"),
        ('FROM box\n\nRUN ["absent-program"]\n', 3, "No such file"),
        ("FROM box\nADD https://absent.example/x /x\n", 2, "failed"),
    ],
)
def test_a_step_that_fails_is_named_and_nothing_is_kept(
    world: World, box: Image, alice: Client, text: str, line: int, words: str
) -> None:
    made = ended(build(world, text))
    assert (made.workload.status, made.image) == ("failed", None)
    assert words in log_of(made.workload)
    assert "never" not in log_of(made.workload).partition("failed")[2]
    assert f"Line {line} failed" in alice.get(f"/builds/{made.pk}/").content.decode()
    assert alice.get(f"/api/v1/builds/{made.pk}/").json()["failed_step"] is not None
    assert nothing_held(made)
    with acting(platform()):
        assert not Image.objects.filter(owner=world.alice).exists()


def test_nothing_to_save_is_said(world: World, box: Image, alice: Client) -> None:
    made = ended(build(world, "FROM box\nRUN true\n"))
    assert (made.workload.status, made.image) == ("failed", None)
    page = alice.get(f"/builds/{made.pk}/").content.decode()
    assert "could not be saved" in page
    assert "Its steps changed nothing" in page
    assert nothing_held(made)


def test_more_than_an_image_may_hold_is_said(world: World, box: Image, settings: Any, alice: Client) -> None:
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, most_mib=4)
    made = ended(build(world, "FROM box\nRUN dd if=/dev/zero of=/large bs=1M count=6\n"))
    assert (made.workload.status, made.image) == ("failed", None)
    assert "4 MiB" in alice.get(f"/builds/{made.pk}/").content.decode()


def test_a_machine_that_cannot_save_ends_it_at_once(
    world: World, box: Image, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "can_save_image", lambda _workload: False)
    made = ended(build(world, "FROM box\nRUN sleep 600\n"))
    assert (made.workload.status, made.image) == ("stopped", None)
    assert "could not be saved" in alice.get(f"/builds/{made.pk}/").content.decode()
    assert nothing_held(made)


def test_a_build_is_stopped_while_it_runs(world: World, box: Image, alice: Client) -> None:
    made = build(world, "FROM box\nRUN echo begun; sleep 600\n")
    with acting(platform()):
        until(made.workload, lambda workload: workload.status == "running" and "begun" in log_of(workload), 60)
    alice.post(f"/builds/{made.pk}/stop/")
    over = ended(made)
    assert (over.workload.status, over.image) == ("stopped", None)
    assert nothing_held(over)


def test_the_sandbox_gives_root_no_more_than_any_run_has(world: World, box: Image) -> None:
    text = "FROM box\nRUN mount -t tmpfs none /srv || unshare -U true || ls -l /proc/1/root/ || echo 'denied all'\n"
    made = ended(build(world, f"{text}RUN cat /proc/self/status; echo x > /x\n"))
    log = log_of(made.workload)
    assert "denied all" in log
    assert "CapEff:\t0000000000000000" in log
    assert "Uid:\t0" not in log  # the filter says so, the kernel does not


def test_what_the_program_says_is_not_believed(world: World, box: Image) -> None:
    """A step writes the answer itself: that saves what is there, as its owner may, and no more."""
    text = 'FROM box\nRUN echo \'{"failed": 99, "status": "x"}\' > /opt/plstack-build/answers/result.json; exit 1\n'
    made = ended(build(world, text))
    with acting(platform()):
        told = result(made)
    assert told is not None
    assert (told.failed, told.done) == (1, False)


def test_a_turn_that_was_cut_off_is_made_good(world: World, box: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image is there, and the program was not told: the next turn tells it, and makes no second one."""
    made = build(world, "FROM box\nRUN echo 1 > /one\n")
    with monkeypatch.context() as patched, acting(platform()):
        patched.setattr(saving, "_answer", lambda *_each: None)
        until(
            made.workload,
            lambda _w: bool(save_built(platform())) and Build.objects.get(pk=made.pk).image is not None,
            60,
        )
        save_built(platform())
    over = ended(made)
    assert over.workload.status == "succeeded"
    with acting(platform()):
        assert Image.objects.filter(owner=world.alice).count() == 1
