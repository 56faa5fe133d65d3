"""Who may count on how much, who holds how much, and what each one's fair share of the cards is now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

import scheduler
from apps.common.clock import db_now
from apps.console.queue.selectors.board import Board
from apps.console.queue.selectors.demand import Asked, Waits, waits_by_organisation
from apps.console.queue.selectors.focus import Focus
from apps.tenants.models import Organisation
from apps.workloads.reconcile.queues import queues
from scheduler.shares import CPU, deserved

HOUR = 3600.0 * scheduler.WHOLE_MILLI  # of a card, or of a core
# Uses of less than a hundredth of an hour are worth no line.
TRACE = HOUR / 100


@dataclass(frozen=True, slots=True)
class Share:
    """One organisation. Thousandths of cards; what was used lately with a half-life of seven days."""

    organisation_id: UUID
    name: str
    weight: float
    guaranteed: int
    held: int
    deserved: int
    used_card_hours: float
    used_core_hours: float
    waiting: int
    wanted: int
    p90_s: float | None  # of what started in the last 24 hours, how long nine in ten had waited at most

    @property
    def borrowed(self) -> int:
        """Held beyond the fair share: given back when others ask."""
        return max(0, self.held - self.deserved)

    @property
    def short(self) -> int:
        """Deserved, asked for, and not there yet."""
        return max(0, self.deserved - self.held)

    @property
    def lent(self) -> int:
        """Guaranteed and not asked for: others may use it meanwhile."""
        return max(0, self.guaranteed - max(self.held, self.deserved))


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides an organisation's part: weight, promises by model (ANY_MODEL: any), recent use."""

    weight: float
    promised: Mapping[str, int]
    used: Mapping[str, float]

    def hours(self, resource: str) -> float:
        return self.used.get(resource, 0.0) / HOUR


Book = dict[str, dict[str, float]]  # model, organisation, thousandths of cards


def shares(focus: Focus, board: Board, asked: Iterable[Asked]) -> list[Share]:
    """Organisations that hold, ask for, were promised or lately used something; those with most at stake first."""
    groups = [group for group in asked if group.gpu is not None or not focus.model]
    standing, waits = _standing(focus), waits_by_organisation(focus)
    held = {key: milli for key, milli in board.held.items() if focus.model in ("", key[1])}
    parts = parts_of(focus, board.capacity, held, groups, standing)
    waiting: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for group in groups:
        sums = waiting[str(group.organisation_id)]
        sums[0], sums[1] = sums[0] + group.tasks, sums[1] + group.milli
    concerned = {key[0] for key in held} | set(waiting) | {o for o, s in standing.items() if _counts(focus, s)}
    names = _names(concerned)
    lines = [
        _share(focus, o, names[o], standing, held, parts, waiting[o], waits) for o in concerned if o in names
    ]  # fmt: skip
    return sorted(lines, key=lambda line: (-max(line.held, line.deserved, line.guaranteed), -line.waiting, line.name))


def _counts(focus: Focus, standing: Standing) -> bool:
    promised = any(focus.model in ("", model) for model in standing.promised)
    lately = any(standing.used.get(resource, 0.0) > TRACE for resource in (scheduler.ANY_MODEL, CPU))
    return promised or (lately and not focus.model)


def _share(
    focus: Focus,
    organisation: str,
    name: str,
    standing: Mapping[str, Standing],
    held: Mapping[tuple[str, str], int],
    parts: Mapping[str, float],
    waiting: list[int],
    waits: Mapping[UUID, Waits],
) -> Share:
    own = standing.get(organisation, NOTHING)
    lately = waits.get(UUID(organisation))
    return Share(
        organisation_id=UUID(organisation),
        name=name,
        weight=own.weight,
        guaranteed=sum(milli for model, milli in own.promised.items() if focus.model in ("", model)),
        held=sum(milli for (holder, _model), milli in held.items() if holder == organisation),
        deserved=round(parts.get(organisation, 0.0)),
        used_card_hours=own.hours(scheduler.ANY_MODEL),
        used_core_hours=own.hours(CPU),
        waiting=waiting[0],
        wanted=waiting[1],
        p90_s=lately.p90_s if lately else None,
    )


NOTHING = Standing(1.0, {}, {})


def _standing(focus: Focus) -> dict[str, Standing]:
    return {
        queue.id: Standing(queue.weight, queue.guarantee.gpu_milli, queue.decayed_usage)
        for queue in queues(db_now(), simulated=focus.simulated)
        if queue.level is scheduler.QueueLevel.ORGANISATION
    }


def _names(organisations: Iterable[str]) -> dict[str, str]:
    rows = Organisation.objects.filter(pk__in=list(organisations)).values_list("pk", "name")
    return {str(pk): name for pk, name in rows}


def parts_of(
    focus: Focus,
    capacity: Mapping[str, int],
    held: Mapping[tuple[str, str], int],
    asked: Iterable[Asked],
    standing: Mapping[str, Standing],
) -> dict[str, float]:
    """What each organisation deserves, in thousandths of cards: per model by weighted filling, guarantees first.

    A promise over any model counts where its holder asks, in proportion. Work that names no model gets, likewise by
    weight, what the models' own demand leaves.
    """
    named, unnamed = _demand(held, asked)
    weight = {organisation: s.weight for organisation, s in standing.items()}
    promises = _promises(named, unnamed, standing)
    total: defaultdict[str, float] = defaultdict(float)
    left = 0.0
    for model, cards in capacity.items():
        if focus.model in ("", model):
            found = deserved(cards, promises.get(model, {}), weight, named.get(model, {}))
            for organisation, part in found.items():
                total[organisation] += part
            left += cards - sum(found.values())
    if not focus.model and unnamed:
        for organisation, part in deserved(left, promises.get(scheduler.ANY_MODEL, {}), weight, unnamed).items():
            total[organisation] += part
    return dict(total)


def _demand(held: Mapping[tuple[str, str], int], asked: Iterable[Asked]) -> tuple[Book, dict[str, float]]:
    """What is held or asked for by model, and what is asked for of no model in particular."""
    named: Book = defaultdict(lambda: defaultdict(float))
    unnamed: defaultdict[str, float] = defaultdict(float)
    for (organisation, model), milli in held.items():
        named[model][organisation] += milli
    for group in asked:
        if group.gpu is not None:
            of = named[group.gpu.model] if group.gpu.model else unnamed
            of[str(group.organisation_id)] += group.milli
    return {model: dict(lines) for model, lines in named.items()}, dict(unnamed)


def _promises(named: Book, unnamed: Mapping[str, float], standing: Mapping[str, Standing]) -> Book:
    """Guarantees by model, with those over any model spread over what their holder asks for."""
    found: Book = defaultdict(dict)
    for organisation, own in standing.items():
        wanted = {model: lines[organisation] for model, lines in named.items() if organisation in lines}
        wanted[scheduler.ANY_MODEL] = unnamed.get(organisation, 0.0)
        free = own.promised.get(scheduler.ANY_MODEL, 0)
        loose = {model: milli for model, milli in wanted.items() if model not in own.promised or model == "*"}
        for model, milli in loose.items():
            found[model][organisation] = free * milli / (sum(loose.values()) or 1.0)
        for model, milli in own.promised.items():
            if model != scheduler.ANY_MODEL:
                found[model][organisation] = milli
    return dict(found)
