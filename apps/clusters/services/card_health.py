"""Whether cards are well: what their node tells, the faults that they report, and an operator's word for a reset."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters.card_fault import STANDING, CardFault
from apps.clusters.cards import Trouble
from apps.clusters.choices import AcceleratorMode
from apps.clusters.discovery import Machine
from apps.clusters.models import Accelerator, Node
from apps.clusters.xids import FATAL, Fault, pci_key
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission

KEEP_FAULTS = timedelta(days=90)


def judge_cards(node: Node, machine: Machine) -> None:
    """Of a node whose cards were just written: mark those that nothing new may be placed on, and why."""
    cards = Accelerator.objects.filter(node=node)
    cut = [card.uuid for card in machine.cards if card.mig]
    # On these somebody switched MIG on by hand: they run nothing in any other mode.
    cards.filter(uuid__in=cut, healthy=True).exclude(mode=AcceleratorMode.MIG).update(
        healthy=False, trouble=Trouble.CUT
    )
    _mark_missing(node, machine)
    if machine.boot_id:
        boot_id = UUID(machine.boot_id)
        record_faults(node, boot_id, machine.faults)
        standing = CardFault.objects.filter(STANDING, boot_id=boot_id).values("accelerator")
        cards.filter(healthy=True, pk__in=standing).update(healthy=False, trouble=Trouble.FAULT)
    changed = Q(healthy=False, unhealthy_since__isnull=True) | Q(healthy=True, unhealthy_since__isnull=False)
    cards.filter(changed).update(unhealthy_since=Case(When(healthy=False, then=Now()), default=Value(None)))


def _mark_missing(node: Node, machine: Machine) -> None:
    """Cards that no longer answer stay, marked unhealthy: something may still be allocated on them."""
    told = [card.uuid for card in machine.cards]
    for card in Accelerator.objects.filter(node=node).exclude(uuid__in=told):
        trouble = _missing_trouble(card, machine)
        if card.healthy or card.trouble != trouble:
            Accelerator.objects.filter(pk=card.pk).update(healthy=False, trouble=trouble)


def _missing_trouble(card: Accelerator, machine: Machine) -> Trouble:
    if card.vendor != "nvidia":
        return Trouble.ABSENT
    if machine.nvml_error:
        return Trouble.LIBRARY
    for unread in machine.unread:
        # Of one that is lost before anybody could ask its name, the place in the driver's list is all there is.
        if unread.uuid == card.uuid or (not unread.uuid and unread.index == card.index):
            return unread.trouble
    return Trouble.ABSENT


def record_faults(node: Node, boot_id: UUID, faults: tuple[Fault, ...]) -> None:
    """Write each once. One that comes again after it was resolved stands again."""
    if not faults:
        return
    here = Accelerator.objects.filter(node=node, vendor="nvidia").exclude(pci="")
    # Of two that were in one place, the one that was replaced comes first and gives way.
    cards = {pci_key(card.pci): card for card in here.order_by("last_seen_at")}
    rows = CardFault.objects.filter(accelerator__in=cards.values(), boot_id=boot_id)
    known = {(row.accelerator_id, row.code, row.pid): row for row in rows}
    new = []
    for fault in faults:
        if fault.pci not in cards:
            continue
        card = cards[fault.pci]
        row = known.get((card.pk, fault.code, fault.pid))
        if row is None:
            new.append(_row(card, boot_id, fault))
        elif row.last_usec < fault.last_usec:
            _renew(row, fault)
    if new:
        CardFault.objects.bulk_create(new, ignore_conflicts=True)
        old = CardFault.objects.filter(accelerator__in=cards.values(), last_at__lt=db_now() - KEEP_FAULTS)
        old.exclude(boot_id=boot_id).delete()


def _row(card: Accelerator, boot_id: UUID, fault: Fault) -> CardFault:
    return CardFault(
        accelerator=card,
        boot_id=boot_id,
        code=fault.code,
        pid=fault.pid,
        process=fault.process,
        text=fault.text,
        remedy=fault.remedy,
        at=_moment(fault.at),
        last_at=_moment(fault.last_at),
        last_usec=fault.last_usec,
    )


def _renew(row: CardFault, fault: Fault) -> None:
    is_new = row.resolved_at is not None or row.remedy not in FATAL
    CardFault.objects.filter(pk=row.pk, last_usec__lt=fault.last_usec).update(
        process=fault.process,
        text=fault.text,
        remedy=fault.remedy,
        last_at=_moment(fault.last_at),
        last_usec=fault.last_usec,
        resolved_at=None,
        resolved_by="",
        told_at=None if is_new else row.told_at,
    )


def _moment(unix: float) -> datetime:
    return datetime.fromtimestamp(unix, UTC)


def confirm_reset(actor: Actor, *, card_id: UUID) -> Accelerator:
    """Somebody has reset the card: its faults so far keep no work away any more. Raises Conflict where none does.

    It takes work again at once, unless its node told something else of it.
    """
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        cards = Accelerator.objects.select_for_update(of=("self",)).select_related("node")
        card: Accelerator | None = cards.filter(pk=card_id).first()
        if card is None:
            raise NotFound
        standing = CardFault.objects.filter(STANDING, accelerator=card, boot_id=F("accelerator__node__boot_id"))
        codes = sorted(set(standing.values_list("code", flat=True)))
        if not codes:
            raise Conflict(
                _("No fault of this card asks for a reset."), hint=_("Load the page again: it may have been confirmed.")
            )
        standing.update(resolved_at=Now(), resolved_by=actor.label[:200])
        if card.trouble == Trouble.FAULT:
            card.healthy, card.trouble, card.unhealthy_since = True, "", None
            card.save(update_fields=["healthy", "trouble", "unhealthy_since"])
        target = Target("accelerator", str(card.pk), f"{card.node.name} / {card.index}")
        record(actor, action="card.reset", target=target, before={"faults": codes})
    return card
