"""Builds on a real machine: a base image in a registry, turns of the loops, and what was built, asked."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from apps.billing import services as billing
from apps.billing.models import Account
from apps.builds.models import Build
from apps.builds.reconcile.saving import save_built
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.tenants.models import Holding
from apps.workloads.drivers.base import Reference
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.models import Workload
from apps.workloads.nodes import local_driver
from apps.workloads.selectors import current_attempt, log_chunk
from tests.builders import World, platform, reload, submit_workload
from tests.drivers.conftest import obstacle
from tests.drivers.registries import Registry, busybox, layer
from tests.drivers.registries import registry as registry_of
from tests.workloads.loops import until

APPLETS = ("sh", "cat", "ls", "id", "chown", "mkdir", "sleep", "env", "stat", "echo", "mknod", "dd", "rm",
           "touch", "pwd", "mount", "unshare")  # fmt: skip
ACCOUNTS = (("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", b"root:x:0:\n"),
            ("etc/shadow", b"root:*:1::::::\n"))  # fmt: skip


@pytest.fixture(scope="package")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with registry_of(tmp_path_factory.mktemp("registry")) as found:
        yield found


@pytest.fixture
def box(world: World, pushed: Registry, settings: LazySettings) -> Iterator[Image]:
    """A small container image with accounts, on a machine that isolates."""
    if obstacle():
        pytest.skip(obstacle())
    settings.IMAGE_PULL_RULES = pushed.rules
    about = {"Env": ["PATH=/bin", "KIND=box"], "Cmd": ["sh"], "WorkingDir": "/srv"}
    reference = pushed.image(busybox(*APPLETS), layer(*ACCOUNTS, ("srv/kept", b"of the base\n")), **about)
    with acting(platform()):
        found: Image = Image.objects.create(
            key="box", name="box", description_en="A box", description_zh="盒子", reference=reference.name
        )
    yield found
    for ref in local_driver().known():
        processes.end_marked(MARKER, ref, 5)


def turn(made: Build) -> bool:
    """One turn of the loop of builds; whether it has ended."""
    save_built(platform())
    return not reload(made.workload).is_live


def ended(made: Build) -> Build:
    with acting(platform()):
        until(made.workload, lambda _workload: turn(made), 60)
        return Build.objects.select_related("workload", "image", "answers", "organisation", "owner").get(pk=made.pk)


def log_of(workload: Workload) -> str:
    with acting(platform()):
        return log_chunk(current_attempt(workload), limit=1 << 20).data.decode()


def said_in(world: World, image: Image, *argv: str) -> str:
    """What a program says in an image that was built."""
    with acting(world.actor):
        run = submit_workload(world, image=Reference.parse(image.reference), argv=argv, workdir="")
    with acting(platform()):
        until(run, lambda workload: not workload.is_live, 60)
        assert reload(run).status == "succeeded", log_of(run)
    return log_of(run)


def nothing_held(made: Build) -> bool:
    with acting(platform()):
        billing.rate_organisation(platform(), organisation_id=made.organisation_id, until=db_now())
        held = Account.objects.get(organisation_id=made.organisation_id, kind="cash").held_fen
        return not held and not Holding.objects.filter(holder_id=made.workload_id).exists()
