"""Asking for pulls and working on them, as services and the files process do."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from apps.common.scoping import acting
from apps.registry.models import ImageTag, ImageTransfer
from apps.registry.transfers import copying, services, working
from apps.registry.transfers.reading import AddressReading, Bytes
from apps.registry.transfers.services import NewPull
from apps.storage import children
from apps.workloads.drivers.local.oci.manifest import Blob
from tests.builders import actor_of, platform
from tests.drivers.kit import eventually
from tests.registry.test_registry_tokens import Person

MB = 1000 * 1000


def ask(whose: Person, address: str, **more: Any) -> ImageTransfer:
    actor = actor_of(whose.user, whose.organisation)
    with acting(actor):
        return services.pull(actor, NewPull(address, **more))


def work(transfer: ImageTransfer) -> ImageTransfer:
    """Bring it, and read it again."""
    with acting(platform()):
        working.advance(transfer.pk)
    return again(transfer)


def again(transfer: ImageTransfer) -> ImageTransfer:
    with acting(platform()):
        return ImageTransfer.objects.select_related("owner").get(pk=transfer.pk)


def pulled(whose: Person, address: str, **more: Any) -> ImageTransfer:
    return work(ask(whose, address, **more))


def tags_of(transfer: ImageTransfer) -> dict[str, str]:
    """Tags that people see in its repository, and what they lead to."""
    with acting(platform()):
        rows = ImageTag.objects.filter(repository__name=transfer.repository_name)
        return dict(rows.values_list("name", "manifest__digest"))


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # it has just been handed on
        return 0


def kill_in_the_middle(asked: ImageTransfer) -> int:
    """While a layer comes, which goes no further than its first pieces; how many bytes of it there are."""
    whole = AddressReading.bring

    def halting(reading: AddressReading, blob: Blob, told: Callable[[int], None], cancelled: threading.Event) -> Bytes:
        def tell(size: int) -> None:
            told(size)
            while size > 2 * MB:
                signal.pause()

        return whole(reading, blob, tell, cancelled)

    def bring() -> int:
        with acting(platform()), patch.object(AddressReading, "bring", halting):
            working.advance(asked.pk)
        return 0

    def fetched() -> int:
        return sum(map(size_of, copying.folder_of(asked.pk).glob("*")))

    pid = children.fork(bring, "transfer")
    eventually(fetched, lambda size: size > MB)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return fetched()
