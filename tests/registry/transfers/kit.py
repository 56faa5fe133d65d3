"""Asking for pulls and working on them, as services and the files process do."""

from typing import Any

from apps.common.scoping import acting
from apps.registry.models import ImageTag, ImageTransfer
from apps.registry.transfers import services, working
from apps.registry.transfers.services import NewPull
from tests.builders import actor_of, platform
from tests.registry.test_registry_tokens import Person


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
