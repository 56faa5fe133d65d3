"""The cards of one machine as a picture for one organisation: its own work by name, that of others without one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, F, Value, When

from apps.clusters.models import Accelerator, Node
from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.workloads.models import Placement
from apps.workloads.spec import Gpu
from scheduler import WHOLE_MILLI, GpuRequest, Mode

# A card is drawn eight units wide: the memory slices of MIG.
UNITS = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a card, `width` of UNITS. `own`: of the reader's organisation, and then `name` is its workload's."""

    width: int
    taken: bool = False
    own: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """`useful`: a card that the request could use at all, were it empty."""

    index: int
    mode: str
    model: str
    useful: bool
    healthy: bool
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Rack:
    node: str
    wanted: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class _Held:
    accelerator_id: UUID
    own: bool
    name: str
    core_milli: int
    memory_mib: int


def rack_of(organisation_id: UUID, node_id: str | None, gpu: Gpu | None) -> Rack | None:
    """The machine as it is now; None for requests without cards and for a machine that is gone."""
    if node_id is None or gpu is None:
        return None
    node = Node.objects.filter(pk=node_id).values_list("name", flat=True).first()
    cards = list(Accelerator.objects.filter(node_id=node_id).order_by("index"))
    if node is None or not cards:
        return None
    held: defaultdict[UUID, list[_Held]] = defaultdict(list)
    for piece in _held(organisation_id, node_id):
        held[piece.accelerator_id].append(piece)
    return Rack(node, gpu.count, tuple(_card(card, held[card.pk], gpu) for card in cards))


def _held(organisation_id: UUID, node_id: str) -> list[_Held]:
    """What is taken on the machine. The database itself leaves out the names of other organisations' work."""
    own = Case(When(organisation_id=organisation_id, then=Value(True)), default=Value(False))
    name = Case(When(organisation_id=organisation_id, then=F("attempt__workload__name")), default=Value(""))
    with acting(system_actor()):
        rows = Placement.objects.filter(released_at__isnull=True, accelerator__node_id=node_id).order_by("pk")
        columns = ("accelerator_id", "mine", "label", "core_milli", "device_memory_mib")
        return [_Held(*row) for row in rows.annotate(mine=own, label=name).values_list(*columns)]


def _card(card: Accelerator, held: Sequence[_Held], gpu: Gpu) -> Card:
    parts, left = [], UNITS
    for piece in held:
        width = min(left, _width(card, piece))
        if width:
            parts.append(Part(width, True, piece.own, piece.name))
            left -= width
    if left:
        parts.append(Part(left))
    return Card(
        card.index, card.mode, card.model, usable(card, gpu), card.healthy and card.keeps_its_limits, tuple(parts)
    )


def usable(card: Accelerator, gpu: Gpu | GpuRequest) -> bool:
    """As the scheduler has it: of a model that will do; an idle vGPU card can be given whole."""
    mode = card.mode == gpu.mode or (gpu.mode == Mode.WHOLE and card.mode == Mode.VGPU)
    return mode and gpu.model in (None, card.model) and (not gpu.any_of or card.model in gpu.any_of)


def _width(card: Accelerator, piece: _Held) -> int:
    """Whole cards are full; slices count by memory or compute, whichever is more."""
    if card.mode == Mode.WHOLE:
        return UNITS
    memory = piece.memory_mib / card.memory_mib if card.memory_mib else 0
    return max(1, round(UNITS * max(memory, piece.core_milli / WHOLE_MILLI)))
