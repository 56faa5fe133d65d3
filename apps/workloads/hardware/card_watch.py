"""Telling the platform's staff once of cards that are not well and of fatal faults, and once of the end of it."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import groupby

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from apps.clusters.card_fault import STANDING, CardFault
from apps.clusters.models import Accelerator
from apps.clusters.selectors import silent
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform

# A driver that is exchanged, or a library that fails once, is over before.
UNHEALTHY_FOR = timedelta(seconds=60)


def watch_cards(actor: Actor) -> int:
    """Tell of fatal faults, of cards that are not well, and of those that are well again; how many are not well."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    _tell_of_faults()
    cards = Accelerator.objects.exclude(node__cluster__zone__simulated=True).exclude(silent("node__"))
    unhealthy = cards.filter(healthy=False)
    late = unhealthy.filter(trouble_told_at__isnull=True, unhealthy_since__lt=db_now() - UNHEALTHY_FOR)
    _tell(late, "card.unhealthy", told=True)
    _tell(cards.filter(healthy=True, trouble_told_at__isnull=False), "card.healthy", told=False)
    return unhealthy.count()


def _tell_of_faults() -> None:
    """Several faults of a card, as they come from one cause, make one notice."""
    rows = CardFault.objects.filter(
        STANDING,
        told_at__isnull=True,
        boot_id=F("accelerator__node__boot_id"),
        accelerator__node__removed_at__isnull=True,
    )
    faults = rows.select_related("accelerator__node").order_by("accelerator_id", "code", "pk")
    for card, found in groupby(faults, key=lambda fault: fault.accelerator):
        _tell_of_fault(card, [(fault.pk, fault.code, fault.last_usec) for fault in found])


def _tell_of_fault(card: Accelerator, faults: list[tuple[int, int, int]]) -> None:
    with transaction.atomic():
        untold = CardFault.objects.filter(pk__in=[pk for pk, _code, _usec in faults], told_at__isnull=True)
        if not untold.update(told_at=Now()):
            return
        # This says more than that the card is not healthy.
        Accelerator.objects.filter(pk=card.pk, healthy=False, trouble_told_at=None).update(trouble_told_at=Now())
        first_pk, _code, usec = faults[0]
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind="card.fault",
            data={
                "node_id": str(card.node_id),
                "name": card.node.name,
                "accelerator_id": str(card.pk),
                "index": card.index,
                "model": card.model,
                "codes": sorted({code for _pk, code, _usec in faults}),
            },
            dedup=f"card.fault:{first_pk}:{usec}",
        )


def _tell(cards: Iterable[Accelerator], kind: str, *, told: bool) -> None:
    """One notice for each node: where the driver fails, all its cards are concerned."""
    found = sorted(cards, key=lambda card: (card.node_id, card.index))
    for node_id, group in groupby(found, key=lambda card: card.node_id):
        here = list(group)
        with transaction.atomic():
            rows = Accelerator.objects.filter(pk__in=[card.pk for card in here], trouble_told_at__isnull=told)
            if not rows.update(trouble_told_at=Now() if told else None):
                continue
            notify_platform(
                permission=Permission.PLATFORM_NODES_MANAGE,
                kind=kind,
                data={
                    "node_id": str(node_id),
                    "name": here[0].node.name,
                    "cards": [card.index for card in here],
                },
                dedup=f"{kind}:{node_id}:{db_now().timestamp()}",
            )
