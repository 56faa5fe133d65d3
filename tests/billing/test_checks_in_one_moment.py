"""Money that moves while accounts and movements are compared is no difference."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import Posting, organisation_account, post
from apps.billing.months import Month
from apps.billing.statements import revenue
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, make_organisation, top_up, wallet

pytestmark = pytest.mark.django_db(transaction=True)


def adjust(lab: Organisation) -> None:
    """Take 7 fen more from the wallet of an organisation, over a connection of its own."""
    with acting(PLATFORM):
        revenues = organisation_account(lab.pk, AccountKind.REVENUE)
        post(
            PLATFORM,
            posting=Posting(
                debit=wallet(lab), credit=revenues, amount_fen=7, kind=TransferKind.ADJUSTMENT, idem="adjustment:1"
            ),
        )
    connection.close()


def test_an_adjustment_between_two_sums_is_in_both_or_in_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    with acting(PLATFORM), ThreadPoolExecutor(1) as elsewhere:
        lab, month = make_organisation(), Month.at(db_now())
        top_up(lab, 500)
        flows = revenue.flows

        def flows_then_adjust(rows: object) -> list[object]:
            found = flows(rows)  # type: ignore[arg-type]
            monkeypatch.setattr(revenue, "flows", flows)
            elsewhere.submit(adjust, lab).result(60)
            return list(found)

        monkeypatch.setattr(revenue, "flows", flows_then_adjust)
        assert [each.fen for each in revenue.revenue_checks(PLATFORM, month=month)] == [0, 0, 0]
        assert revenue.balance(AccountKind.REVENUE) == 7
