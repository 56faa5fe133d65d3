"""The nodes of side A: the platform's present ones, the simulated zone's, or plain ones for foreign traces."""

from dataclasses import replace
from datetime import datetime

from apps.clusters import simulation
from apps.clusters.models import Node as NodeRow
from apps.whatif.choices import Hardware
from apps.workloads.reconcile.snapshot import nodes as present
from scheduler.types import Device, Mode, Node

CARDS = 8
PLENTY = 1_000_000_000


def nodes_of(hardware: Hardware, plain: int, now: datetime) -> tuple[tuple[Node, ...], dict[str, str]]:
    """Nodes and their names by id. Machines that are silent just now count as there; closed ones stay closed."""
    if hardware is Hardware.PLAIN:
        made = tuple(_plain(index) for index in range(plain))
        return made, {node.id: node.id for node in made}
    simulated = hardware is Hardware.SIMULATED
    # Traces name organisations that do not exist here: what is reserved for somebody is open to all of a scenario.
    found = tuple(replace(node, healthy=True, reserved=False) for node in present(now, simulated))
    if simulated and not found:
        return _models(), {model.node: model.node for model in simulation.MODELS}
    names = NodeRow.objects.filter(cluster__zone__simulated=simulated).values_list("pk", "name")
    return found, {str(pk): name for pk, name in names}


def _plain(index: int) -> Node:
    """Eight whole cards of no particular model, and never short of CPU or memory."""
    name = f"node-{index + 1:03d}"
    cards = tuple(Device(f"{name}/{card}", card, "", "GPU", 0) for card in range(CARDS))
    return Node(name, "", "", PLENTY, PLENTY, cards)


def _models() -> tuple[Node, ...]:
    """The simulated zone as it would be if it has not been added."""
    return tuple(_model(model) for model in simulation.MODELS)


def _model(model: simulation.Model) -> Node:
    cards = tuple(
        Device(f"{model.node}/{index}", index, model.vendor, model.name, model.memory_mib, Mode(mode))
        for index, mode in enumerate(model.modes)
    )
    return Node(
        model.node, "", "", simulation.CPU_MILLI, simulation.MEMORY_MIB, cards, arch=model.arch
    )  # fmt: skip
