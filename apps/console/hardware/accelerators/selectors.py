"""Every card as operators see it: its partitions, what runs on each, its load and temperature."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, Count, F, Q, QuerySet, Sum, When
from django.db.models.functions import Least

from apps.clusters import geometry
from apps.clusters import selectors as clusters
from apps.clusters.card_fault import STANDING
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator, CardFault, Node, Zone
from apps.clusters.selectors import UNSEEN_AFTER, silent
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads.hardware import layouts
from apps.workloads.hardware.layouts import Held, Layout, Offer
from apps.workloads.models import Placement

UNITS = 8  # the width of a card, in parts
MODELS_SHOWN = 5
FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a card as it is drawn: `width` in eighths; `placement` None for a free part.

    `start`: the memory slice where it begins, on a MIG card.
    """

    width: int
    label: str
    placement: Placement | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class CardView:
    card: Accelerator
    placements: tuple[Placement, ...]
    known: bool

    @property
    def pieces(self) -> list[Piece]:
        return _pieces(self.card, self.placements)

    @property
    def free(self) -> bool:
        return not self.placements

    @property
    def slots(self) -> range:
        """The memory slices of a MIG card, by number."""
        return range(layouts.slices(geometry.profiles(self.card)))

    @property
    def partitions(self) -> list[Held]:
        return [Held(p.mig_profile, p.mig_start) for p in self.placements if p.mig_start is not None]

    @property
    def offers(self) -> list[Offer]:
        """The card's profiles, each with where another instance could be placed now."""
        return layouts.offers(geometry.profiles(self.card), self.partitions)

    @property
    def layouts(self) -> list[Layout]:
        """Ways to partition its free part, or all of it while it is in another mode."""
        return layouts.layouts(geometry.profiles(self.card), self.partitions)

    @property
    def discovered(self) -> bool:
        """Whether its driver told how it may be cut; else a table says it of its model."""
        return geometry.is_discovered(self.card)

    @property
    def held_memory_mib(self) -> int:
        return sum(placement.device_memory_mib for placement in self.placements)

    @property
    def measured(self) -> bool:
        """Whether there are current measurements."""
        return self.known and self.card.utilisation_pct is not None


@dataclass(frozen=True, slots=True)
class NodeCards:
    """A machine and those of its cards that match the filters."""

    node: Node
    cards: list[CardView]
    known: bool

    @property
    def runs(self) -> int:
        return len({placement.attempt_id for card in self.cards for placement in card.placements})

    @property
    def title(self) -> str:
        """`8 × H200` where all are alike."""
        models = sorted({view.card.model for view in self.cards})
        return f"{len(self.cards)} × {' / '.join(models)}"


def node_cards(found: Sequence[Accelerator]) -> list[NodeCards]:
    """The cards grouped by machine, in their order, with what holds them: one query for all."""
    now = db_now()
    held = held_by_card(card.pk for card in found)
    nodes: dict[UUID, NodeCards] = {}
    for card in found:
        known = _is_known(card, now)
        group = nodes.setdefault(card.node_id, NodeCards(card.node, [], now - card.node.last_seen_at <= UNSEEN_AFTER))
        group.cards.append(CardView(card, tuple(held.get(card.pk, ())), known))
    return list(nodes.values())


def faults_shown(actor: Actor, *, node_id: UUID | None = None, card_id: UUID | None = None) -> list[CardFault]:
    """Of a node's cards, or of one: those that keep work away, then the newest."""
    found = clusters.card_faults(actor, node_id=node_id, card_id=card_id)
    stands = When(STANDING, boot_id=F("accelerator__node__boot_id"), then=0)
    return list(found.order_by(Case(stands, default=1), "-last_at", "-pk")[:FAULTS_SHOWN])


def view_of(card: Accelerator) -> CardView:
    return CardView(card, tuple(held_by_card([card.pk]).get(card.pk, ())), _is_known(card, db_now()))


def _is_known(card: Accelerator, now: datetime) -> bool:
    return card.healthy and now - card.node.last_seen_at <= UNSEEN_AFTER


def held_by_card(ids: Iterable[UUID]) -> dict[UUID, list[Placement]]:
    rows = Placement.objects.filter(accelerator__in=list(ids), released_at__isnull=True)
    held: dict[UUID, list[Placement]] = defaultdict(list)
    for placement in rows.select_related("attempt__workload__organisation", "attempt__workload__owner").order_by("pk"):
        if placement.accelerator_id is not None:
            held[placement.accelerator_id].append(placement)
    return held


def _pieces(card: Accelerator, placements: Sequence[Placement]) -> list[Piece]:
    if card.mode == AcceleratorMode.WHOLE:
        return [Piece(UNITS, p.attempt.workload.name, p) for p in placements] or [Piece(UNITS, "")]
    if card.mode == AcceleratorMode.MIG:
        return _partitions(card, placements)
    return _shares(card, placements)


def _partitions(card: Accelerator, placements: Sequence[Placement]) -> list[Piece]:
    """MIG: each partition at its place, with the free memory slices in between."""
    profiles = geometry.profiles(card)
    sizes = {profile.name: profile.size for profile in profiles}
    total = layouts.slices(profiles) or UNITS
    pieces, at = [], 0
    for placement in sorted(placements, key=lambda each: each.mig_start or 0):
        start, size = placement.mig_start or 0, sizes.get(placement.mig_profile, 1)
        pieces += _gap(start - at, at)
        pieces.append(Piece(size, placement.mig_profile.partition(".")[0], placement, start))
        at = start + size
    return pieces + _gap(total - at, at)


def _gap(size: int, start: int = 0) -> list[Piece]:
    return [Piece(size, "", start=start)] if size > 0 else []


def _shares(card: Accelerator, placements: Sequence[Placement]) -> list[Piece]:
    """vGPU and sharing: by memory, at least one part wide each."""
    pieces = [
        Piece(max(1, round(UNITS * p.device_memory_mib / max(1, card.memory_mib))), _gb(p.device_memory_mib), p)
        for p in placements
    ]
    return pieces + _gap(UNITS - sum(piece.width for piece in pieces))


def _gb(mib: int) -> str:
    return str(round(mib / 1024))


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Cards of one model, in whole cards: all there are, what is given out, what cannot be told."""

    model: str
    simulated: bool
    total: int
    used: float
    lost: int

    @property
    def free(self) -> float:
        return max(0.0, self.total - self.lost - self.used)


def use_by_model(rows: QuerySet[Accelerator]) -> list[ModelUse]:
    """The models with most cards, real and simulated ones apart. Two queries."""
    counted = (
        rows.order_by()
        .values("model", simulated=F("node__cluster__zone__simulated"))
        .annotate(total=Count("pk"), lost=Count("pk", filter=Q(healthy=False) | silent("node__")))
        .order_by("simulated", "-total", "model")[:MODELS_SHOWN]
    )
    held = (
        Placement.objects.filter(accelerator__in=rows.order_by().values("pk"), released_at__isnull=True)
        .order_by()
        .values(model=F("accelerator__model"), simulated=F("node__cluster__zone__simulated"))
        .annotate(milli=Sum(Least("core_milli", 1000)))
    )
    used = {(row["model"], row["simulated"]): row["milli"] / 1000 for row in held}
    return [
        ModelUse(
            model=row["model"],
            simulated=row["simulated"],
            total=row["total"],
            used=used.get((row["model"], row["simulated"]), 0.0),
            lost=row["lost"],
        )
        for row in counted
    ]


def counts(actor: Actor) -> dict[str, int]:
    """How many real and simulated cards there are."""
    rows = clusters.cards(actor).order_by()
    found: dict[str, int] = rows.aggregate(
        real=Count("pk", filter=Q(node__cluster__zone__simulated=False)),
        simulated=Count("pk", filter=Q(node__cluster__zone__simulated=True)),
        nodes=Count("node", distinct=True),
    )
    return found


def zones(actor: Actor) -> list[Zone]:
    return list(clusters.zones(actor))
