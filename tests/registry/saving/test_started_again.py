"""Environments and the work of others begin in an image that an environment was saved as, on a machine without it."""

import shutil
from pathlib import Path

import pytest

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.envs import program
from apps.envs.models import Environment
from apps.envs.services import tools
from apps.registry.models import Image, ImageRepository, ImageSaving, ImageTag
from apps.registry.saving import layouts
from apps.registry.sharing import services as sharing
from apps.registry.sharing.services import NewShare
from apps.workloads import reach
from apps.workloads import services as workloads
from apps.workloads.models import Workload
from apps.workloads.references import Reference
from apps.workloads.spec import Image as Runtime
from tests.builders import World, actor_of, make_member, make_organisation, platform, reload, submit_workload
from tests.builds.machine import log_of
from tests.drivers.kit import eventually
from tests.drivers.registries import BUSYBOX
from tests.envs import kit as envs
from tests.registry import serving
from tests.registry.saving import kit
from tests.registry.serving import Site
from tests.registry.sharing.kit import allow
from tests.workloads.loops import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None or not serving.PROGRAM, reason="needs busybox-static and docker-registry"),
]


@pytest.fixture(autouse=True)
def empty_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runtimes without packages in place of JupyterLab's, which take minutes to install: its own programs run."""
    monkeypatch.setattr(program, "tool", Runtime)
    program.published.cache_clear()  # each test has a home of its own


def running(world: World, image: Image) -> Workload:
    """The workload of an environment in it, whose own programs answer."""
    made = envs.make(world, image_id=image.pk)
    assert made.workload is not None
    with acting(platform()):
        until(made.workload, lambda each: each.status == "running", 120)
    answers(world, made)
    return reload(made.workload)


def answers(world: World, made: Environment) -> None:
    def ask() -> object:
        with acting(world.actor):
            return tools.running(world.actor, envs.again(made))

    found = eventually(ask, lambda told: "jupyter" in told)
    assert found["notebook"] == {"version": "", "kernel": False}


def said_by(world: World, workload: Workload, script: str) -> str:
    """What a shell inside says."""
    with acting(world.actor):
        stream = reach.exec(world.actor, workload, ["sh", "-c", script])
    try:
        told = b""
        while piece := stream.read():
            told += piece
        assert stream.wait(60) == 0, told
        return told.decode()
    finally:
        stream.close()


def stop(actor: Actor, workload: Workload) -> None:
    with acting(actor):
        workloads.stop(actor, workload)
    with acting(platform()):
        until(workload, lambda each: not each.is_live)


def forget_images(home: Path) -> None:
    """As on a node that has never seen them."""
    with acting(platform()):
        layouts.sweep(0)
    assert not kit.layouts(home)
    shutil.rmtree(home / "images")


@pytest.fixture
def saved(world: World, box: Image, site: Site, tmp_path: Path) -> Image:
    """What an environment was saved as: in the registry alone."""
    before = running(world, box)
    said_by(world, before, "echo installed > /bin/own; rm /srv/kept; echo home > /home/user/of-home")
    saving: ImageSaving = kit.ended(kit.ask(world, before))
    assert saving.status == "succeeded", saving.problem
    stop(world.actor, before)
    forget_images(tmp_path)
    with acting(platform()):
        tag = ImageTag.objects.get(repository__name=saving.repository_name, name=saving.tag)
        found: Image = Image.objects.get(key=f"pushed-{tag.pk.hex}")
    assert found.reference.endswith(f"@{saving.digest}")
    return found


def test_an_environment_begins_where_the_saved_one_was(world: World, saved: Image) -> None:
    again = running(world, saved)
    assert again.frozen_spec.image == Reference.parse(saved.reference)
    told = said_by(world, again, "cat /bin/own; ls /srv; ls /home/user")
    assert told.startswith("installed\n")
    assert "kept" not in told
    assert "of-home" not in told, "what is in its home belongs to the other one"
    assert "Unpacking layer" in log_of(again)
    stop(world.actor, again)


def test_a_receiver_runs_it_on_a_node_while_it_is_shared(world: World, saved: Image, tmp_path: Path) -> None:
    allow()
    with acting(platform()):
        receivers = make_organisation()
        rob = actor_of(make_member(receivers, "rob"), receivers)
        repository = ImageRepository.objects.get()

    def submitted() -> Workload:
        with acting(rob):
            image = Reference.parse(saved.reference)
            return submit_workload(world, rob, ("cat", "/bin/own"), image=image, workdir="")

    def ended() -> Workload:
        run = submitted()
        with acting(platform()):
            until(run, lambda each: not each.is_live, 120)
        return reload(run)

    early = ended()
    assert (early.status, early.reason_data.get("ran")) == ("stopped", False)
    with acting(world.actor):
        share = sharing.share(world.actor, repository.pk, NewShare(receivers.slug))
    run = ended()
    assert run.status == "succeeded", log_of(run)
    assert "Unpacking layer" in log_of(run), "pulled by its node"
    assert log_of(run).endswith("installed\n")
    with acting(world.actor):
        sharing.take_back(world.actor, repository.pk, share.pk)
    late = ended()
    assert (late.status, late.reason_data) == ("stopped", {"lost": "image_share", "ran": False})
    assert (tmp_path / "images").is_dir(), "the machine has it still"
