"""Switching how cards are given out: refused while work is on them, carried out by the node's driver, logged."""

from collections import defaultdict
from contextlib import suppress
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters import geometry
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator, Node
from apps.clusters.selectors import UNSEEN_AFTER
from apps.clusters.services import locked_node
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.common.permissions import Permission
from apps.workloads import nudge
from apps.workloads.drivers.base import CannotSee, DriverError
from apps.workloads.drivers.capabilities import GpuModeMixin
from apps.workloads.hardware import holding
from apps.workloads.models import Placement
from apps.workloads.nodes import driver_named
from apps.workloads.queueing.lock import hold_scheduler
from apps.workloads.words import sentence

# Vendors whose cards several programs may use at once; of others it is not known.
SHAREABLE = frozenset({"nvidia", "amd", "huawei"})


def possible_modes(card: Accelerator) -> list[AcceleratorMode]:
    """The modes that this card can be in, on the machine that it is in."""
    return [mode for mode in AcceleratorMode if not mode_obstacle(card, mode)]


def mode_obstacle(card: Accelerator, mode: AcceleratorMode) -> str:
    """What keeps the card from this mode, in words; "" for nothing."""
    if mode == AcceleratorMode.MIG and not geometry.can_mig(card):
        return _("its driver offers no partitions") if geometry.is_discovered(card) else _("not on this model")
    if mode == AcceleratorMode.VGPU and not card.limiter:
        if card.vendor != "nvidia":
            return _("nothing on this machine limits slices of such cards")
        return _("nothing on this machine limits memory: install HAMi-core")
    if mode == AcceleratorMode.SHARED and card.vendor not in SHAREABLE:
        return _("not known to work on cards of this vendor")
    return ""


def set_card_mode(
    actor: Actor, *, card_id: UUID, mode: AcceleratorMode, seen: AcceleratorMode | None = None
) -> Accelerator:
    """Switch one card. Raises Conflict naming the work on it, Invalid where it has no such mode.

    `seen`: the mode that the person saw it in. Conflict where somebody else has switched it since.
    """
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        hold_scheduler()
        card: Accelerator | None = (
            Accelerator.objects.select_for_update(of=("self",)).select_related("node").filter(pk=card_id).first()
        )
        if card is None:
            raise NotFound
        if seen not in (None, card.mode):
            raise Conflict(
                _("Somebody has switched this card meanwhile: it is given out as “%(mode)s” now.")
                % {"mode": card.get_mode_display()},
                hint=_("Look at it again, then decide."),
            )
        _refuse_while_held([card])
        _switch(actor, card.node, card, mode)
    nudge.schedule()
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
        _switch_all(actor, node, changing, mode)
    nudge.schedule()
    return len(changing)


def _switch_all(actor: Actor, node: Node, cards: list[Accelerator], mode: AcceleratorMode) -> None:
    """What cannot be switched is found out before the first card is; one that then fails takes the others back."""
    for card in cards:
        _refuse_impossible(card, mode)
    before = {card.pk: card.mode for card in cards}
    switched: list[Accelerator] = []
    try:
        for card in cards:
            _switch(actor, node, card, mode)
            switched.append(card)
    except Exception:
        for card in switched:
            with suppress(Exception):  # the first failure is the one that is told
                _carry_out(node, card, AcceleratorMode(before[card.pk]))
        raise


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


def _refuse_impossible(card: Accelerator, mode: AcceleratorMode) -> None:
    reason = mode_obstacle(card, mode)
    if reason:
        words = {"model": card.model, "mode": mode.label, "reason": reason}
        raise Invalid.field("mode", _("%(model)s cannot be given out as “%(mode)s”: %(reason)s.") % words)


def _switch(actor: Actor, node: Node, card: Accelerator, mode: AcceleratorMode) -> None:
    _refuse_impossible(card, mode)
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
    if db_now() - node.last_seen_at > UNSEEN_AFTER:
        raise Unavailable(
            _("The node has not been heard from lately, so nothing was changed."), hint=_("Try again once it is back.")
        )
    try:
        driver.set_gpu_mode(node.name, card.uuid, mode.value)
    except CannotSee as error:
        raise Unavailable(_("The node does not answer, so nothing was changed."), hint=_("Try again later.")) from error
    except DriverError as error:
        raise Conflict(_("The node refused: %(words)s") % {"words": sentence(error.said)}) from error
