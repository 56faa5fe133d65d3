"""What stands for the path parts of vouchers and discounts."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from apps.billing.choices import VoucherScope
from apps.billing.days import billing_day
from apps.billing.prices.discounts.services import set_discount
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor
from apps.common.clock import db_now
from tests.builders import World


def voucher_values(world: World, clerk: Actor, secret: str) -> dict[str, Any]:
    """Call in the clerk's scope."""
    today = billing_day(db_now()) + timedelta(days=1)
    spec = VoucherSpec(100, VoucherScope.EVERYTHING, today, today + timedelta(days=9), note=secret)
    voucher = issue_voucher(clerk, organisation_id=world.organisation.pk, spec=spec, key=secret)
    discount = set_discount(clerk, organisation_id=world.organisation.pk, off=Decimal("0.01"), note=secret)
    return {"voucher_id": voucher.pk, "discount_id": discount.pk}
