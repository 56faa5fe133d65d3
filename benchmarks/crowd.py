"""A platform of any size in the database, put there in bulk: machines with cards, what runs on them and what waits.

Nothing is metered, announced or launched: for measuring what reads these rows. Call inside `acting(system_actor())`.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.clusters.models import Accelerator, LogicalCluster, Node, Zone
from apps.common.actor import Channel, system_actor
from apps.common.clock import db_now
from apps.tenants.models import Membership, Organisation, User
from apps.training.choices import KIND as TRAINING
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.spec import Gpu, Image, Spec

CARDS, CPU_MILLI, MEMORY_MIB = 8, 128_000, 1024 * 1024
MODELS = (("H100", 80 * 1024), ("A100", 40 * 1024), ("L40S", 48 * 1024))
# Cards asked for, and how often.
COUNTS, WEIGHTS = (1, 2, 4, 8), (60, 20, 14, 6)
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Crowd:
    """How much of everything. `busy`: the share of the cards that is taken."""

    nodes: int
    queued: int
    organisations: int = 40
    busy: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Ids:
    """What every workload names."""

    people: list[tuple[UUID, int]]
    package: int
    price: int


class Builder:
    """Makes one crowd. The same seed makes the same one, ids included."""

    def __init__(self, crowd: Crowd) -> None:
        self.crowd, self.random, self.now = crowd, random.Random(crowd.seed), db_now()  # noqa: S311
        self.serial = 0

    def build(self) -> None:
        nodes = self._nodes()
        cards = self._cards(nodes)
        ids = self._ids()
        self._running(nodes, cards, ids)
        self.ids = ids
        self.arrive(self.crowd.queued)

    def arrive(self, count: int) -> None:
        """So many more wait."""
        _save(Workload, (self._workload(self.ids, self._waiting_spec()) for _ in range(count)))

    def _id(self) -> UUID:
        return UUID(int=self.random.getrandbits(128), version=4)

    def _nodes(self) -> list[Node]:
        zone = Zone.objects.create(name="crowd")
        cluster = LogicalCluster.objects.create(zone=zone, name="default")
        fixed: dict[str, Any] = {"cluster": cluster, "driver": "simulated", "arch": "x86_64", "isolation": "L1"}
        # Nobody hears from these, so they have to be heard from for as long as anybody measures.
        fixed |= {"cpu_milli": CPU_MILLI, "memory_mib": MEMORY_MIB, "last_seen_at": self.now + timedelta(days=1)}
        names = (f"node-{number:05}" for number in range(self.crowd.nodes))
        return _save(Node, (Node(id=self._id(), name=name, **fixed) for name in names))

    def _cards(self, nodes: list[Node]) -> dict[UUID, list[Accelerator]]:
        cards = _save(Accelerator, (card for place, node in enumerate(nodes) for card in self._of(node, place)))
        found: dict[UUID, list[Accelerator]] = {node.pk: [] for node in nodes}
        for card in cards:
            found[card.node_id].append(card)
        return found

    def _of(self, node: Node, place: int) -> Iterator[Accelerator]:
        model, memory = MODELS[place % len(MODELS)]
        for index in range(CARDS):
            fixed: dict[str, Any] = {"vendor": "nvidia", "model": model, "memory_mib": memory}
            yield Accelerator(id=self._id(), node=node, uuid=f"GPU-{node.name}-{index}", index=index, **fixed)

    def _ids(self) -> Ids:
        organisations = _save(
            Organisation,
            (Organisation(id=self._id(), name=f"Lab {n}", slug=f"lab-{n}") for n in range(self.crowd.organisations)),
        )
        users = _save(User, (User(username=f"person-{n}") for n in range(3 * len(organisations))))
        people = [(organisations[n // 3].pk, user.pk) for n, user in enumerate(users)]
        _save(Membership, (Membership(organisation_id=lab, user_id=user) for lab, user in people))
        spec = billing.PackageSpec(name_en="Card", name_zh="Card", cpu_milli=8000, memory_mib=65536)
        package = billing.create_package(system_actor(Channel.COMMAND), spec=spec, rate_fen_per_hour=Decimal(100))
        price = funds.current_price(package.pk)
        if price is None:
            raise RuntimeError("a new package has a price")
        return Ids(people, package.pk, price.pk)

    def _running(self, nodes: list[Node], cards: dict[UUID, list[Accelerator]], ids: Ids) -> None:
        workloads, attempts, placements = [], [], []
        for node in nodes:
            free = cards[node.pk][: round(self.crowd.busy * CARDS)]
            while free:
                count = min(len(free), self._count())
                mine, free = free[:count], free[count:]
                workload = self._workload(ids, _spec(count, mine[0].model), Status.RUNNING)
                attempt = self._attempt(workload, node)
                workloads.append(workload)
                attempts.append(attempt)
                placements += [_placement(attempt, card, first=card is mine[0]) for card in mine]
        _save(Workload, workloads)
        _save(Attempt, attempts)
        _save(Placement, placements)

    def _attempt(self, workload: Workload, node: Node) -> Attempt:
        ago = timedelta(seconds=self.random.uniform(60, 86400))
        fixed: dict[str, Any] = {"organisation_id": workload.organisation_id, "workload": workload, "node": node}
        return Attempt(
            id=self._id(), number=1, placed_at=self.now - ago, started_at=self.now - ago, phase="running", **fixed
        )

    def _count(self) -> int:
        return self.random.choices(COUNTS, WEIGHTS)[0]

    def _waiting_spec(self) -> Spec:
        model = self.random.choice([None, *(name for name, _memory in MODELS)])
        return _spec(self._count(), model)

    def _workload(self, ids: Ids, spec: Spec, status: Status = Status.QUEUED) -> Workload:
        organisation, owner = self.random.choice(ids.people)
        self.serial += 1
        return Workload(
            id=self._id(),
            organisation_id=organisation,
            owner_id=owner,
            kind=TRAINING,
            name=f"run {self.serial}",
            spec=spec.as_json(),
            priority=self.random.randint(1, 5),
            package_id=ids.package,
            price_version_id=ids.price,
            submit_key=f"crowd-{self.serial}",
            status=status,
            attempt_number=int(status != Status.QUEUED),
            queued_at=self._before(),
        )

    def _before(self) -> datetime:
        return self.now - timedelta(seconds=self.random.uniform(1, 3600))


def _spec(count: int, model: str | None) -> Spec:
    gpu = Gpu(mode="whole", count=count, model=model)
    return Spec(Image("python"), ("true",), 8000 * count, 65536 * count, gpu=gpu)


def _placement(attempt: Attempt, card: Accelerator, *, first: bool) -> Placement:
    return Placement(
        organisation_id=attempt.organisation_id,
        attempt=attempt,
        node_id=attempt.node_id,
        accelerator=card,
        device_memory_mib=card.memory_mib,
        core_milli=1000,
        exclusive=True,
        cpu_milli=8000 if first else 0,
        memory_mib=65536 if first else 0,
    )


def _save(model: type[M], rows: Iterable[M]) -> list[M]:
    saved: list[M] = model._default_manager.bulk_create(rows, batch_size=2000)
    return saved
