"""What stands for the path parts of money's pages."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from apps.billing.changes.proposals import CreditLimit
from apps.billing.changes.services import submit
from apps.billing.models import Budget, Statement, TopUpOrder
from apps.billing.months import Month
from apps.billing.payments import proofs, recharge_review
from apps.billing.statements import services as statements
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.actors import platform_actor
from apps.tenants.choices import PlatformRole
from tests.architecture.documents import document_values
from tests.architecture.prepaid import prepaid_order_id
from tests.architecture.reconciliation import reconciliation_values
from tests.architecture.vouchers import voucher_values
from tests.builders import World, make_staff

PDF = b"%PDF-1.7 slip"


def money_values(world: World, secret: str) -> dict[str, Any]:
    whose = world.organisation.pk
    clerk = platform_actor(make_staff(PlatformRole.FINANCE))
    with acting(clerk):
        asked = recharge_review.recharge(clerk, organisation_id=whose, amount_fen=90_000_000, reference=secret)
        change = submit(clerk, CreditLimit(whose, 90_000_000)).request
        assert change is not None
        proof = proofs.add_proof(clerk, organisation_id=whose, reference=secret, name=f"{secret}.pdf", content=PDF)
        order = TopUpOrder.objects.create(
            organisation=world.organisation,
            user=world.alice,
            out_trade_no=f"PL{uuid4().hex}",
            amount_fen=100,
            expires_at=db_now() + timedelta(minutes=30),
        )
        budget = Budget.objects.create(
            organisation=world.organisation, name=secret, scope="organisation", limit_fen=100, thresholds=[100]
        )
        alipay = reconciliation_values(world, secret)
        documents = {**alipay, **document_values(world, secret), "prepaid_order_id": prepaid_order_id(world, secret)}
        documents |= voucher_values(world, clerk, secret)
    ids = {**documents, "budget_id": budget.pk, "statement_id": _statement(world, clerk).pk, "position": 1}
    return {
        **ids,
        "change_request_id": change.pk,
        "recharge_request_id": asked.pk,
        "proof_id": proof.pk,
        "out_trade_no": order.out_trade_no,
    }


def _statement(world: World, clerk: Actor) -> Statement:
    """One that was issued, so that its own organisation sees it."""
    month = Month.at(db_now()).former().former()  # complete, whatever the day
    with acting(clerk):
        made = statements.build(clerk, organisation_id=world.organisation.pk, month=month)
        statements.review(clerk, statement_id=made.pk)
        return statements.issue(clerk, statement_id=made.pk)
