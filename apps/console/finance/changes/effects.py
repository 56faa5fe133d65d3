"""What a change that waits would do, whatever its kind."""

from apps.billing.changes import effects
from apps.billing.changes.effects import Effect
from apps.billing.changes.period_effects import PeriodEffect, period_effect
from apps.billing.changes.price_proposals import ListedPrice, PackagePrice, PeriodPrice, StoragePrice
from apps.billing.changes.proposals import NewDiscount, Proposal
from apps.common.actor import Actor
from apps.storage.metering import stored_gib


def effect_of(actor: Actor, proposal: Proposal) -> Effect | PeriodEffect | None:
    """None for what has no price: credit, limits."""
    if isinstance(proposal, PackagePrice):
        return effects.package_effect(actor, proposal)
    if isinstance(proposal, ListedPrice):
        return effects.unit_effect(actor, proposal)
    if isinstance(proposal, StoragePrice):
        return effects.storage_effect(actor, proposal, stored_gib())
    if isinstance(proposal, NewDiscount):
        return effects.discount_effect(actor, proposal)
    if isinstance(proposal, PeriodPrice):
        return period_effect(actor, proposal)
    return None
