"""What stands for the path parts of the reconciliation with Alipay."""

from datetime import date
from typing import Any
from uuid import uuid4

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillSource
from apps.billing.models import AlipayBill, BillDay, BillItem
from tests.builders import World


def reconciliation_values(world: World, secret: str) -> dict[str, Any]:
    """A day on which Alipay alone has a payment of the organisation. The secret stands in its number."""
    day = date(2026, 11, 20)
    number = f"PL{secret}"[:64]
    bill, _made = AlipayBill.objects.get_or_create(
        day=day,
        digest=uuid4().hex,
        defaults={"size": 1, "content": b"x", "source": BillSource.UPLOADED, "lines": 1},
    )
    BillDay.objects.get_or_create(day=day)
    item, _made = BillItem.objects.get_or_create(
        kind=BillItemKind.PAYMENT,
        out_trade_no=number,
        defaults={
            "day": day,
            "bill": bill,
            "organisation": world.organisation,
            "theirs_fen": 100,
            "outcome": BillOutcome.THEIRS_ONLY,
        },
    )
    ids = {"bill_day": day.isoformat(), "bill_item_id": item.pk, "alipay_bill_id": bill.pk}
    return {**ids, "out_request_no": "PL-of-nobody-R"}  # a path is echoed: no secret in it
