"""All cards of one world as the scheduler sees them: what is free on each, and what of it any package could use."""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

import numpy as np

import scheduler
from apps.billing.models import Package
from apps.clusters.models import Node
from apps.clusters.rights import reserved_clusters
from apps.common.clock import db_now
from apps.console.queue.selectors.focus import Passed, request_of
from apps.workloads.models import Placement
from apps.workloads.offers.quoting import resources_of
from apps.workloads.placing import read_zones
from apps.workloads.reconcile import snapshot
from apps.workloads.spec import Spec
from scheduler.cells import Bools, Cells, Claim, Ints
from scheduler.columns import RequestClass
from scheduler.demand import Demand
from scheduler.overview import ModelUse, usable_cards, use_by_model
from scheduler.shares import CPU, MEMORY, bundle_of_claim, capacity


@dataclass(frozen=True)
class Offer:
    """A package on offer and what one run of it asks for."""

    package: Package
    demand: Demand


@dataclass(frozen=True)
class Board:
    """Nodes (rows) by cards (columns), with the names that people know them by."""

    cells: Cells
    names: tuple[str, ...]
    offers: tuple[Offer, ...]

    @cached_property
    def use(self) -> tuple[ModelUse, ...]:
        return use_by_model(self.cells, self.demands)

    @cached_property
    def useful(self) -> Bools:
        """[N, G]: cards on which some package could start now."""
        return usable_cards(self.cells, self.demands)

    @cached_property
    def idle(self) -> Ints:
        """[N, G]: thousandths of each card that nothing holds; 0 where it is out of reach."""
        return np.asarray(np.clip(self.cells.core, 0, scheduler.WHOLE_MILLI) * self.online)

    @cached_property
    def online(self) -> Bools:
        cells = self.cells
        return np.asarray(cells.open[:, None] & cells.flags(lambda card: card.healthy)[cells.shape])

    @cached_property
    def starved(self) -> Bools:
        """[N, G]: cards that would do for some package, on nodes whose CPU or memory is used up."""
        rows, cells = np.arange(len(self.cells)), self.cells
        would = np.zeros_like(cells.core, np.bool_)
        for demand in self.demands:
            kind = RequestClass(cells, demand)
            if kind.cards is not None:
                fit = kind.cards.fitting_cards(rows)
                would |= fit & (kind.allowed & (fit.sum(1) >= kind.cards.gpu.count))[:, None]
        return np.asarray(would & self.online & ~self.useful)

    @cached_property
    def held(self) -> dict[tuple[str, str], int]:
        """Thousandths of cards by organisation and model."""
        found: defaultdict[tuple[str, str], int] = defaultdict(int)
        for claims in self.cells.claims:
            for claim in claims:
                for model, milli in bundle_of_claim(self.cells, claim).items():
                    if model not in (CPU, MEMORY, scheduler.ANY_MODEL):
                        found[claim.organisation, model] += milli
        return dict(found)

    @cached_property
    def capacity(self) -> dict[str, int]:
        """Thousandths of the cards in reach, by model."""
        total = capacity(self.cells)
        return {m: milli for m, milli in total.items() if m not in (CPU, MEMORY, scheduler.ANY_MODEL)}

    def model(self, name: str) -> Bools:
        """[N, G]: cards of the model; of every model for an empty name."""
        cells = self.cells
        return np.asarray(cells.flags(lambda card: name in ("", card.model))[cells.shape])

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """What may be asked for. A shared card is of use to those whom it serves already, so they are asked as well."""
        found = [offer.demand for offer in self.offers if offer.demand.gpu is not None]
        shared = [demand for demand in found if demand.gpu is not None and demand.gpu.mode is scheduler.Mode.SHARED]
        return (*found, *(replace(demand, organisation=owner) for demand in shared for owner in self._sharers()))

    def _sharers(self) -> list[str]:
        """Organisations that hold a part of a shared card."""
        cells = self.cells
        is_shared = cells.flags(lambda card: card.mode is scheduler.Mode.SHARED)[cells.shape]
        codes = np.unique(cells.owner[is_shared & (cells.owner >= 0)])
        return [cells.organisations[code] for code in codes.tolist()]


@lru_cache(maxsize=2)
def board(simulated: bool, at: Passed) -> Board:
    """As of the last scheduling pass, or of some seconds ago where none runs; shared by all that ask meanwhile."""
    return draw(db_now(), simulated=simulated)


def draw(now: datetime, *, simulated: bool) -> Board:
    """Read it from the rows."""
    cells = Cells(snapshot.nodes(now, simulated))
    for claim in _claims(cells, simulated):
        cells.take(claim)
    names = dict(Node.objects.filter(cluster__zone__simulated=simulated).values_list("pk", "name"))
    return Board(cells, tuple(names.get(UUID(node.id), "") for node in cells.nodes), tuple(_offers(simulated)))


def _claims(cells: Cells, simulated: bool) -> list[Claim]:
    """What every program holds: an attempt, or each member of a gang."""
    held: dict[tuple[UUID, int], list[dict[str, Any]]] = defaultdict(list)
    rows = Placement.objects.filter(released_at__isnull=True, node__cluster__zone__simulated=simulated)
    columns = [
        "attempt_id",
        "rank",
        "node_id",
        "accelerator_id",
        "cpu_milli",
        "memory_mib",
        "core_milli",
        "device_memory_mib",
        "mig_start",
    ]
    for row in rows.order_by("pk").values(*columns, "mig_profile", "organisation_id"):
        held[row["attempt_id"], row["rank"]].append(row)
    known = ((cells.row_of.get(str(pieces[0]["node_id"])), pieces) for pieces in held.values())
    return [_claim(row, pieces) for row, pieces in known if row is not None]


def _claim(row: int, pieces: list[dict[str, Any]]) -> Claim:
    slices = tuple(
        scheduler.Slice(
            device_id=str(piece["accelerator_id"]),
            memory_mib=piece["device_memory_mib"],
            core_milli=piece["core_milli"],
            mig_start=piece["mig_start"],
            mig_profile=piece["mig_profile"] or None,
        )
        for piece in pieces
        if piece["accelerator_id"] is not None
    )
    cpu, memory = sum(piece["cpu_milli"] for piece in pieces), sum(piece["memory_mib"] for piece in pieces)
    return Claim(row, cpu, memory, slices, str(pieces[0]["organisation_id"]))


def _offers(simulated: bool) -> list[Offer]:
    """Packages on offer in this world."""
    packages = list(Package.objects.filter(active=True))
    read_zones(packages)
    specs = [(package, resources_of(package)) for package in packages]
    reserved = reserved_clusters()
    return [Offer(package, demand_of(spec, reserved)) for package, spec in specs if spec.simulated == simulated]


def demand_of(spec: Spec, entitled: tuple[str, ...] = ()) -> Demand:
    """`entitled`: the reserved clusters that whoever asks may use."""
    gpu = None if spec.gpu is None else request_of({name: getattr(spec.gpu, name) for name in spec.gpu.__slots__})
    return Demand(spec.cpu_milli, spec.memory_mib, gpu, spec.zone, entitled=entitled, rdma=spec.rdma)
