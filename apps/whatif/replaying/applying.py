"""Build side B: apply the changes to side A, in their order."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from apps.whatif.changes import Change
from apps.whatif.choices import ChangeKind
from apps.whatif.replaying.material import Material
from scheduler.mig import profile_named
from scheduler.replay import Arrival
from scheduler.types import ANY_MODEL, Amount, Device, MigProfile, Mode, Node, Queue, QueueLevel


def side_b(material: Material, changes: Iterable[Change]) -> Material:
    """A change of something that no longer exists (a removed node) has no effect."""
    for change in changes:
        material = _APPLIED[change.kind](material, change)
    return material


def _queue(material: Material, change: Change, edit: Callable[[Queue], Queue]) -> Material:
    """Edit the organisation's queue, created if it has none."""
    found = next((q for q in material.queues if _is_queue_of(q, change.target)), None)
    if found is None:
        made = edit(Queue(QueueLevel.ORGANISATION, change.target, change.target))
        return replace(material, queues=(*material.queues, made))
    return replace(material, queues=tuple(edit(q) if q is found else q for q in material.queues))


def _is_queue_of(queue: Queue, organisation: str) -> bool:
    return queue.level is QueueLevel.ORGANISATION and queue.id == organisation


def _guarantee(material: Material, change: Change) -> Material:
    def edit(queue: Queue) -> Queue:
        promised = dict(queue.guarantee.gpu_milli)
        promised[change.model or ANY_MODEL] = change.value
        kept = {model: milli for model, milli in promised.items() if milli}
        return replace(queue, guarantee=Amount(gpu_milli=kept))

    return _queue(material, change, edit)


def _weight(material: Material, change: Change) -> Material:
    return _queue(material, change, lambda queue: replace(queue, weight=float(change.value)))


def _priority(material: Material, change: Change) -> Material:
    def moved(arrival: Arrival) -> Arrival:
        task = arrival.task
        return replace(arrival, task=replace(task, priority=change.value)) if task.user == change.target else arrival

    return replace(material, arrivals=tuple(moved(arrival) for arrival in material.arrivals))


def _price(material: Material, change: Change) -> Material:
    """Every run on the package at the new price; demand is assumed not to change."""
    new = {task: change.rate for task, package in material.packages.items() if package == change.target}
    return replace(material, rates={**material.rates, **{task: rate for task, rate in new.items() if rate is not None}})


def _min_runtime(material: Material, change: Change) -> Material:
    return replace(material, times=replace(material.times, min_runtime_s=float(change.value)))


def _mode(material: Material, change: Change) -> Material:
    def recut(node: Node) -> Node:
        if node.id != change.target:
            return node
        return replace(node, devices=tuple(_recut(card, change) for card in node.devices))

    return replace(material, nodes=tuple(recut(node) for node in material.nodes))


def _recut(card: Device, change: Change) -> Device:
    if change.cards and card.index not in change.cards:
        return card
    card = replace(card, mode=Mode(change.mode))
    if not change.layout:
        return card
    found = ((profile_named(card, name), count) for name, count in change.layout)
    return replace(card, mig_profiles=tuple(_at_most(p, count) for p, count in found if p is not None))


def _at_most(profile: MigProfile, count: int) -> MigProfile:
    return replace(profile, maximum=min(profile.maximum, count))


def _add(material: Material, change: Change) -> Material:
    like = next((node for node in material.nodes if node.id == change.target), None)
    if like is None:
        return material
    made = tuple(_copy(like, number) for number in range(1, change.value + 1))
    names = {node.id: f"{change.label} +{number}" for number, node in enumerate(made, 1)}
    return replace(material, nodes=(*material.nodes, *made), machines={**material.machines, **names})


def _copy(node: Node, number: int) -> Node:
    """A copy of the node, open and empty."""
    name = f"{node.id}+{number}"
    cards = tuple(replace(card, id=f"{name}/{card.index}", healthy=True) for card in node.devices)
    return replace(node, id=name, devices=cards, schedulable=True)


def _remove(material: Material, change: Change) -> Material:
    return replace(material, nodes=tuple(node for node in material.nodes if node.id != change.target))


_APPLIED: dict[ChangeKind, Callable[[Material, Change], Material]] = {
    ChangeKind.GUARANTEE: _guarantee,
    ChangeKind.WEIGHT: _weight,
    ChangeKind.PRIORITY: _priority,
    ChangeKind.PRICE: _price,
    ChangeKind.MIN_RUNTIME: _min_runtime,
    ChangeKind.MODE: _mode,
    ChangeKind.NODE_ADD: _add,
    ChangeKind.NODE_REMOVE: _remove,
}
