"""Vouchers are granted and taken back by the platform's finance staff, on terms that are never edited."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from apps.audit.models import Entry
from apps.billing import selectors
from apps.billing.choices import AccountKind, VoucherScope, VoucherState
from apps.billing.days import billing_day
from apps.billing.ledger.selectors import voucher_drift
from apps.billing.ledger.services import platform_account
from apps.billing.models import Voucher, VoucherEnd
from apps.billing.vouchers.selectors import voucher, voucher_sums, vouchers
from apps.billing.vouchers.services import issue_voucher, void_voucher
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import (
    NOON,
    PLATFORM,
    Run,
    balance,
    make_member,
    make_organisation,
    make_package,
    make_voucher,
    price_of,
    top_up,
)

HOUR = timedelta(hours=1)


def spec(fen: int = 1_000, **columns: object) -> VoucherSpec:
    first = billing_day(db_now()) + timedelta(days=1)
    values = {"scope": VoucherScope.EVERYTHING, "valid_from": first, "valid_until": first + timedelta(days=30)}
    return VoucherSpec(amount_fen=fen, **{**values, **columns})  # type: ignore[arg-type]


def test_issuing_moves_promotion_money_and_is_logged(lab: Organisation) -> None:
    given = issue_voucher(PLATFORM, organisation_id=lab.pk, spec=spec(note="Welcome"), key="k1")
    assert balance(lab, AccountKind.VOUCHER) == 1_000
    assert platform_account(AccountKind.PROMOTION).balance_fen == -1_000
    entry = Entry.objects.get(action="billing.voucher.issue")
    assert entry.after["amount_fen"] == 1_000
    assert issue_voucher(PLATFORM, organisation_id=lab.pk, spec=spec(note="Welcome"), key="k1").pk == given.pk
    assert balance(lab, AccountKind.VOUCHER) == 1_000
    with pytest.raises(Conflict):
        issue_voucher(PLATFORM, organisation_id=lab.pk, spec=spec(2_000), key="k1")


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ({"amount_fen": 0}, "amount"),
        ({"scope": VoucherScope.PACKAGE}, "package"),
        ({"scope": VoucherScope.PACKAGE, "package_id": -1}, "package"),
        ({"package_id": 1}, "package"),
        ({"scope": VoucherScope.GPU_MODEL}, "gpu_model"),
        ({"gpu_model": "A100"}, "gpu_model"),
        ({"valid_from": NOON.date()}, "valid_from"),
        ({"valid_until": NOON.date()}, "valid_until"),
        ({"note": "x" * 301}, "note"),
    ],
)
def test_wrong_terms_are_refused_beside_their_field(lab: Organisation, columns: dict[str, object], field: str) -> None:
    given = replace(spec(), **columns)
    with pytest.raises(Invalid) as refused:
        issue_voucher(PLATFORM, organisation_id=lab.pk, spec=given, key="k")
    assert field in refused.value.fields
    assert balance(lab, AccountKind.VOUCHER) == 0


def test_voiding_takes_back_what_is_left_after_what_was_used(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 10_000)
    run = Run(alice, price_of(make_package(780)))
    given = make_voucher(lab, 1_000, valid_until=db_now().replace(minute=0, second=0, microsecond=0) + 48 * HOUR)
    run.open().close(HOUR)
    voided = void_voucher(PLATFORM, voucher_id=given.pk, reason="wrong organisation")
    assert (voided.used_fen, voided.left_fen) == (780, 0)
    assert VoucherEnd.objects.get().amount_fen == 220
    assert void_voucher(PLATFORM, voucher_id=given.pk, reason="again").pk == given.pk
    assert Entry.objects.get(action="billing.voucher.void").after["reason"] == "wrong organisation"
    assert selectors.drift() == []
    assert selectors.unbalanced_runs() == []
    assert voucher_drift() == []


def test_another_organisation_s_vouchers_are_not_there(lab: Organisation, alice: Actor) -> None:
    other = make_organisation()
    later = db_now().replace(minute=0, second=0, microsecond=0) + timedelta(days=1)
    mine, theirs = (make_voucher(each, 100, valid_until=later) for each in (lab, other))
    with acting(alice):
        assert [row.pk for row in vouchers(alice)] == [mine.pk]
        assert vouchers(alice).get(state=VoucherState.VALID).pk == mine.pk
        with pytest.raises(NotFound):
            voucher(alice, theirs.pk)
    with pytest.raises(Denied):
        vouchers(make_member(lab))
    assert voucher_sums(vouchers(PLATFORM)).granted_fen == 200


def test_only_finance_staff_grant_and_void(lab: Organisation, alice: Actor) -> None:
    given = make_voucher(lab, 100)
    acts: list[Callable[[], Voucher]] = [
        lambda: issue_voucher(alice, organisation_id=lab.pk, spec=spec(), key="k"),
        lambda: void_voucher(alice, voucher_id=given.pk, reason="no"),
    ]
    for act in acts:
        with pytest.raises(Denied):
            act()
