"""Switching how cards are given out: refused while work is on them, carried out by the node's driver, logged."""

from collections import defaultdict
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator, Node
from apps.clusters.services import locked_node
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.common.permissions import Permission
from apps.workloads.drivers.base import CannotSee, DriverError
from apps.workloads.drivers.capabilities import GpuModeMixin
from apps.workloads.hardware import holding
from apps.workloads.models import Placement
from apps.workloads.nodes import driver_named
from apps.workloads.reconcile.lock import hold_scheduler
from scheduler.mig import table_for

SHAREABLE = frozenset({"nvidia", "amd", "huawei"})


def possible(card: Accelerator) -> list[AcceleratorMode]:
    """The modes that this model of card knows."""
    mig = [AcceleratorMode.MIG] if card.vendor == "nvidia" and table_for(card.model, card.memory_mib) else []
    return [AcceleratorMode.WHOLE, *mig, AcceleratorMode.VGPU, AcceleratorMode.SHARED]


def set_card_mode(actor: Actor, *, card_id: UUID, mode: AcceleratorMode) -> Accelerator:
    """Switch one card. Raises Conflict naming the work on it, Invalid where the model has no such mode."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        hold_scheduler()
        card: Accelerator | None = (
            Accelerator.objects.select_for_update(of=("self",)).select_related("node").filter(pk=card_id).first()
        )
        if card is None:
            raise NotFound
        _refuse_while_held([card])
        _switch(actor, card.node, card, mode)
    return card


def set_node_mode(actor: Actor, *, node_id: UUID, mode: AcceleratorMode) -> int:
    """Switch every card of a node, all or none; how many were changed."""
    with transaction.atomic():
        hold_scheduler()
        node = locked_node(actor, node_id)
        cards = list(Accelerator.objects.select_for_update().filter(node=node).order_by("index"))
        if not cards:
            raise Conflict(_("This node has no cards."))
        _refuse_while_held(cards)
        changing = [card for card in cards if card.mode != mode]
        for card in changing:
            _switch(actor, node, card, mode)
    return len(changing)


def _refuse_while_held(cards: list[Accelerator]) -> None:
    """The scheduler is held still: what is free now stays free until the switch is written."""
    held = Placement.objects.filter(accelerator__in=cards, released_at__isnull=True)
    work: dict[int, list[str]] = defaultdict(list)
    for piece in held.select_related("attempt__workload", "accelerator").order_by("accelerator__index", "pk"):
        if piece.accelerator is not None:
            work[piece.accelerator.index].append(piece.attempt.workload.name)
    if not work:
        return
    told = "; ".join(
        _("card %(index)s: %(names)s") % {"index": index, "names": ", ".join(names[: holding.NAMED])}
        for index, names in list(work.items())[: holding.NAMED]
    )
    raise Conflict(
        _("Work is running there, and switching would end it: %(work)s.") % {"work": told},
        hint=_("Stop it, or drain the node first."),
    )


def _switch(actor: Actor, node: Node, card: Accelerator, mode: AcceleratorMode) -> None:
    if mode not in possible(card):
        raise Invalid.field("mode", _("%(model)s cannot be cut this way: choose another mode.") % {"model": card.model})
    if card.mode == mode:
        return
    _carry_out(node, card, mode)
    before, card.mode = card.mode, mode
    card.save(update_fields=["mode"])
    record(
        actor,
        action="card.mode",
        target=Target("card", str(card.pk), f"{node.name} / {card.index}"),
        before={"mode": before},
        after={"mode": mode.value},
    )


def _carry_out(node: Node, card: Accelerator, mode: AcceleratorMode) -> None:
    """Nothing is written unless the machine has done it: a mode that the card is not in would break what starts."""
    driver = driver_named(node.driver)
    if not isinstance(driver, GpuModeMixin):
        raise Conflict(_("The modes of this node's cards are not switched from here."))
    try:
        driver.set_gpu_mode(node.name, card.uuid, mode.value)
    except CannotSee as error:
        raise Unavailable(_("The node does not answer, so nothing was changed."), hint=_("Try again later.")) from error
    except DriverError as error:
        raise Conflict(_("The node refused: %(words)s") % {"words": str(error)}) from error
