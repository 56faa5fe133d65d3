"""An organisation's guarantees, with the existing cards and the guarantees of all organisations."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from apps.clusters.models import Accelerator
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants.models import Guarantee
from apps.tenants.services.guarantees import Promise

WHOLE_MILLI = 1000


@dataclass(frozen=True, slots=True)
class ZoneLine:
    """One zone's part of the cards, in thousandths. `missing`: if everybody asked for all of theirs there."""

    id: UUID
    name: str
    existing: int
    missing: int


@dataclass(frozen=True, slots=True)
class GuaranteeLine:
    """Thousandths of a card. `existing`: all there are; `everybody`: what all organisations are guaranteed of them.

    `zones`: the same zone by zone, where cards stand in more than one: work of a zone's package goes nowhere else.
    """

    promise: Promise
    milli: int
    existing: int
    everybody: int
    zones: tuple[ZoneLine, ...] = ()

    @property
    def overbooked(self) -> bool:
        """Whether more is guaranteed than exists."""
        return self.everybody > self.existing

    @property
    def short_zones(self) -> tuple[ZoneLine, ...]:
        """Zones that could not keep all guarantees alone although all zones together could."""
        return () if self.overbooked else tuple(zone for zone in self.zones if zone.missing)


def guarantee_lines(actor: Actor, organisation_id: UUID) -> list[GuaranteeLine]:
    """Any model first, then each by name; real cards before simulated ones, which are left out where there are none."""
    actor.require(Permission.PLATFORM_TENANTS_VIEW)
    standing, promised = _cards_by_zone(), _promised()
    existing = {promise: sum(zones.values()) for promise, zones in standing.items()}
    everybody = _guaranteed_in_all(promised)
    mine = promised.get(organisation_id, {})
    wanted = {Promise()} | existing.keys() | everybody.keys()
    return [
        GuaranteeLine(
            promise,
            mine.get(promise, 0),
            existing.get(promise, 0),
            everybody.get(promise, 0),
            _zones(standing.get(promise, {}), everybody.get(promise, 0)),
        )
        for promise in sorted(wanted, key=lambda each: (each.simulated, each.gpu_model))
    ]


Place = tuple[UUID, str]


def _cards_by_zone() -> dict[Promise, dict[Place, int]]:
    """Thousandths of cards by the zone where they stand, for each model and for all together."""
    found: defaultdict[Promise, defaultdict[Place, int]] = defaultdict(lambda: defaultdict(int))
    zone = "node__cluster__zone"
    rows = Accelerator.objects.order_by().values_list("model", f"{zone}__simulated", zone, f"{zone}__name")
    for model, simulated, pk, name, cards in rows.annotate(cards=Count("pk")):
        for promise in (Promise(model, simulated), Promise("", simulated)):
            found[promise][pk, name] += cards * WHOLE_MILLI
    return {promise: dict(zones) for promise, zones in found.items()}


def _zones(standing: dict[Place, int], everybody: int) -> tuple[ZoneLine, ...]:
    """By name; none where all stand in one."""
    if len(standing) < 2:
        return ()
    return tuple(
        ZoneLine(pk, name, milli, max(0, everybody - milli))
        for (pk, name), milli in sorted(standing.items(), key=lambda each: each[0][1])
    )


def _promised() -> dict[UUID, dict[Promise, int]]:
    found: defaultdict[UUID, dict[Promise, int]] = defaultdict(dict)
    for row in Guarantee.objects.order_by("pk"):
        found[row.organisation_id][Promise(row.gpu_model, row.simulated)] = row.gpu_milli
    return dict(found)


def _guaranteed_in_all(promised: dict[UUID, dict[Promise, int]]) -> dict[Promise, int]:
    """Cards of a certain model count for "any" too; what is promised of any model beyond those comes on top."""
    total: defaultdict[Promise, int] = defaultdict(int)
    for lines in promised.values():
        for simulated in {promise.simulated for promise in lines}:
            named = {p: milli for p, milli in lines.items() if p.gpu_model and p.simulated == simulated}
            for promise, milli in named.items():
                total[promise] += milli
            anything = Promise("", simulated)
            total[anything] += max(lines.get(anything, 0), sum(named.values()))
    return dict(total)
