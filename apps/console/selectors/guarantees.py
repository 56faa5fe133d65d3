"""What an organisation is guaranteed, beside what there is and what everybody is guaranteed together."""

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
class GuaranteeLine:
    """Thousandths of a card. `existing`: all there are; `everybody`: what all organisations are guaranteed of them."""

    promise: Promise
    milli: int
    existing: int
    everybody: int

    @property
    def overbooked(self) -> bool:
        """More was promised than there is: nobody can be sure of it."""
        return self.everybody > self.existing


def guarantee_lines(actor: Actor, organisation_id: UUID) -> list[GuaranteeLine]:
    """Any model first, then each by name; real cards before simulated ones, which are left out where there are none."""
    actor.require(Permission.PLATFORM_TENANTS_VIEW)
    existing, promised = _existing(), _promised()
    everybody = _everybody(promised)
    mine = promised.get(organisation_id, {})
    wanted = {Promise()} | existing.keys() | everybody.keys()
    return [
        GuaranteeLine(promise, mine.get(promise, 0), existing.get(promise, 0), everybody.get(promise, 0))
        for promise in sorted(wanted, key=lambda each: (each.simulated, each.gpu_model))
    ]


def _existing() -> dict[Promise, int]:
    found: defaultdict[Promise, int] = defaultdict(int)
    rows = Accelerator.objects.order_by().values_list("model", "node__cluster__zone__simulated")
    for model, simulated, cards in rows.annotate(cards=Count("pk")):
        for promise in (Promise(model, simulated), Promise("", simulated)):
            found[promise] += cards * WHOLE_MILLI
    return dict(found)


def _promised() -> dict[UUID, dict[Promise, int]]:
    found: defaultdict[UUID, dict[Promise, int]] = defaultdict(dict)
    for row in Guarantee.objects.order_by("pk"):
        found[row.organisation_id][Promise(row.gpu_model, row.simulated)] = row.gpu_milli
    return dict(found)


def _everybody(promised: dict[UUID, dict[Promise, int]]) -> dict[Promise, int]:
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
