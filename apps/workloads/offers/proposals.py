"""Which packages to propose beside an offer that cannot start now."""

from collections.abc import Sequence
from decimal import Decimal

from apps.billing.funds.quotes import StartFunds, start_funds
from apps.common.actor import Actor
from apps.workloads import kinds
from apps.workloads.offers.picker import PackageChoice
from apps.workloads.offers.quoting import Offer, quota_problem, resources_of
from apps.workloads.placing import is_simulated

MOST = 3


def proposals(actor: Actor, offer: Offer, choices: Sequence[PackageChoice]) -> list[PackageChoice]:
    """Those of `choices` that would start now with the money and the quota there are; none beside one that does.

    The most alike first where only the machines are full; the largest first where money or quota is short.
    """
    if offer.starts_now or not choices:
        return []
    has = start_funds(actor.organisation())
    alike = [choice for choice in reversed(choices) if _alike(offer, choice)]
    found = [choice for choice in alike if _would_start(actor, offer, choice, has)]
    if offer.can_start:
        found.sort(key=lambda choice: _unlike(offer, choice))
    return found[:MOST]


def _alike(offer: Offer, choice: PackageChoice) -> bool:
    """Of the same world; some work that wants a GPU is not told to do without."""
    if choice.package.pk == offer.package.pk or is_simulated(choice.package) != is_simulated(offer.package):
        return False
    return not kinds.named(offer.kind).keeps_gpu or bool(choice.package.gpu_count) or not offer.package.gpu_count


def _would_start(actor: Actor, offer: Offer, choice: PackageChoice, has: StartFunds) -> bool:
    listed = choice.list_rate_fen_per_hour
    if listed is None or not choice.forecast.starts_now or offer.quote.blocked:
        return False
    return (
        has.pay_for(choice.package, listed) and quota_problem(actor, resources_of(choice.package), offer.kind) is None
    )


def _unlike(offer: Offer, choice: PackageChoice) -> tuple[int, Decimal]:
    asked, other = resources_of(offer.package), resources_of(choice.package)
    return abs(other.gpu_milli - asked.gpu_milli), choice.rate_fen_per_hour or Decimal(0)
