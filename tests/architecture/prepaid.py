"""What stands for a prepaid order in the paths of pages."""

from datetime import timedelta
from uuid import UUID

from apps.billing.models import PrepaidOrder
from apps.common.clock import db_now
from tests.builders import World


def prepaid_order_id(world: World, secret: str) -> UUID:
    """The victim's order, without purchases. Call inside `acting`."""
    now = db_now()
    made = PrepaidOrder.objects.create(
        organisation=world.organisation,
        user=world.alice,
        package=world.package,
        quantity=1,
        term="month",
        anchor=now,
        starts_at=now,
        ends_at=now + timedelta(days=30),
        covers_until=now + timedelta(days=31),
        key=secret,
    )
    found: UUID = made.pk
    return found
