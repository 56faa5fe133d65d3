"""Work that runs in a container image and has changed it, and turns of the loop that saves it."""

from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
from django.db.models.functions import Now

from apps.common.scoping import acting
from apps.registry.choices import SavingStatus
from apps.registry.distribution import names
from apps.registry.distribution.client import RegistryAway
from apps.registry.models import Image, ImageSaving
from apps.registry.saving import services, working
from apps.workloads.models import Workload
from apps.workloads.references import Reference
from tests.builders import World, platform, submit_workload
from tests.builds.machine import log_of
from tests.drivers.kit import eventually
from tests.registry import serving
from tests.registry.serving import Site
from tests.workloads.loops import until

REPOSITORY = "mine"


def changed(world: World, image: Image, script: str = "echo 1 > /one") -> Workload:
    """Runs on after it has done what the script says."""
    argv = ("sh", "-c", f"{script}; echo changed; sleep 600")
    with acting(world.actor):
        workload = submit_workload(world, image=Reference.parse(image.reference), argv=argv, workdir="")
    with acting(platform()):
        until(workload, lambda each: each.status == "running", 60)
    eventually(lambda: log_of(workload), lambda text: "changed" in text)
    return workload


def ask(world: World, workload: Workload, **changes: Any) -> ImageSaving:
    with acting(world.actor):
        new = services.NewSaving(**{"name": REPOSITORY, "key": uuid4().hex, **changes})
        return services.save(world.actor, workload, new)


def turn(saving: ImageSaving) -> ImageSaving:
    """One of the loop, without its pauses."""
    with acting(platform()):
        ImageSaving.objects.filter(pk=saving.pk).update(due_at=Now())
        working.step(saving.pk)
    return again(saving)


def again(saving: ImageSaving) -> ImageSaving:
    with acting(platform()):
        return ImageSaving.objects.select_related("owner", "workload", "attempt").get(pk=saving.pk)


def ended(saving: ImageSaving) -> ImageSaving:
    return eventually(lambda: turn(saving), lambda each: not each.is_open)


def sending(saving: ImageSaving) -> ImageSaving:
    """Its machine has written the image, and nothing of it was sent."""
    found = turn(saving)
    assert found.status == SavingStatus.SENDING, found.problem
    return found


def layouts(home: Path) -> set[str]:
    """What its machine keeps."""
    return {f"sha256:{path.name}" for path in (home / "saved").glob("?" * 64)}


def repository(world: World) -> str:
    return f"{names.organisation_part(world.organisation)}/{names.person_part(world.alice)}/{REPOSITORY}"


def senders() -> list[psutil.Process]:
    """Processes that send an image now."""
    return [each for each in psutil.Process().children() if _is_sender(each)]


def _is_sender(process: psutil.Process) -> bool:
    try:
        return any("oci import pushing" in word for word in process.cmdline())
    except psutil.Error:  # it has just ended
        return False


def kill_senders() -> None:
    for sender in senders():
        with suppress(psutil.Error):
            sender.kill()
            sender.wait()


def wait_for_senders() -> None:
    _ended, on = psutil.wait_procs(senders(), timeout=60)
    assert not on


def stop_registry(site: Site) -> None:
    site.server.kill()
    site.server.wait()


def start_registry(site: Site) -> None:
    site.registry.start()
    serving.await_socket(site.registry)


def away(*_each: object, **_named: object) -> None:
    raise RegistryAway
