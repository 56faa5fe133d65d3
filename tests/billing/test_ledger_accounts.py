"""Which account is found, opened or locked, and what a repeated or refused posting leaves."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, InternalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.billing.choices import ORGANISATION_KINDS, AccountKind, TransferKind
from apps.billing.ledger import services as ledger
from apps.billing.ledger.services import (
    Posting,
    clearing_and_wallet,
    lock_wallet,
    organisation_account,
    platform_account,
    post,
    post_once,
    violated_constraint,
)
from apps.billing.models import Account, Transfer
from apps.common.errors import Conflict, InsufficientFunds, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_member, make_organisation, top_up, wallet


def refund(organisation: Organisation, fen: int = 120) -> Posting:
    return Posting(
        debit=wallet(organisation),
        credit=platform_account(AccountKind.REFUND_CLEARING),
        amount_fen=fen,
        kind=TransferKind.REFUND,
        idem="refund:1",
        ref="slip",
        note="twice paid",
    )


def kinds_of(organisation: Organisation | None) -> list[str]:
    return list(Account.objects.filter(organisation=organisation).order_by("pk").values_list("kind", flat=True))


@pytest.mark.parametrize("kind", ORGANISATION_KINDS)
def test_an_organisations_accounts_open_together_in_their_order(lab: Organisation, kind: AccountKind) -> None:
    opened = organisation_account(lab.pk, kind)
    assert (opened.organisation_id, opened.kind) == (lab.pk, kind)
    assert kinds_of(lab) == list(ORGANISATION_KINDS)
    with CaptureQueriesContext(connection) as queries:
        assert organisation_account(lab.pk, kind) == opened
    assert len(queries) == 1
    assert kinds_of(lab) == list(ORGANISATION_KINDS)


def test_accounts_that_are_missing_open_beside_those_that_are_there(lab: Organisation) -> None:
    Account.objects.create(organisation=lab, kind=AccountKind.REVENUE)
    assert organisation_account(lab.pk, AccountKind.CASH).kind == AccountKind.CASH
    assert sorted(kinds_of(lab)) == sorted(ORGANISATION_KINDS)


def test_an_account_of_the_platform_opens_once_and_is_no_organisations(lab: Organisation) -> None:
    wallet(lab)
    opened = platform_account(AccountKind.FEES)
    assert (opened.organisation_id, opened.kind) == (None, AccountKind.FEES)
    with CaptureQueriesContext(connection) as queries:
        assert platform_account(AccountKind.FEES) == opened
    assert len(queries) == 1
    assert platform_account(AccountKind.PROMOTION) != opened


@pytest.mark.parametrize("account", ["platform's", "organisation's"])
def test_who_opens_an_account_at_the_same_time_as_another_gets_the_others(
    lab: Organisation, monkeypatch: pytest.MonkeyPatch, account: str
) -> None:
    def open_it() -> Account:
        if account == "platform's":
            return platform_account(AccountKind.FEES)
        return organisation_account(lab.pk, AccountKind.CASH)

    others, find = open_it(), ledger._find
    looks: list[Account | None] = [None]  # the first look is before the other's commit
    monkeypatch.setattr(ledger, "_find", lambda *key: looks.pop() if looks else find(*key))
    assert open_it() == others
    looks += [None, None]
    with pytest.raises(NotFound):
        open_it()


def test_the_clearing_account_and_the_wallet_come_in_this_order_whether_open_or_not(lab: Organisation) -> None:
    elsewhere = wallet(make_organisation())
    for _open_by_now in range(2):
        clearing, ours = clearing_and_wallet(AccountKind.ALIPAY_CLEARING, lab.pk)
        assert (clearing.organisation_id, clearing.kind) == (None, AccountKind.ALIPAY_CLEARING)
        assert (ours.organisation_id, ours.kind) == (lab.pk, AccountKind.CASH)
    assert ours != elsewhere
    platform_account(AccountKind.FEES)
    with CaptureQueriesContext(connection) as queries:
        assert clearing_and_wallet(AccountKind.ALIPAY_CLEARING, lab.pk) == (clearing, ours)
    assert len(queries) == 1


def test_a_locked_wallet_can_still_be_referred_to(lab: Organisation) -> None:
    """Rows that name the account are written meanwhile: `FOR UPDATE` would make them wait."""
    elsewhere = wallet(make_organisation())
    opened = lock_wallet(lab.pk)
    assert (opened.organisation_id, opened.kind) == (lab.pk, AccountKind.CASH)
    with CaptureQueriesContext(connection) as queries:
        assert lock_wallet(lab.pk) == opened != elsewhere
    assert queries.captured_queries[0]["sql"].endswith("FOR NO KEY UPDATE")


def test_only_the_call_that_writes_a_transfer_says_so(lab: Organisation) -> None:
    top_up(lab, 500)
    made, new = post_once(PLATFORM, refund(lab))
    assert (made.note, made.ref, new) == ("twice paid", "slip", True)
    assert post_once(PLATFORM, refund(lab)) == (made, False)
    assert post(PLATFORM, posting=refund(lab)) == made


@pytest.mark.parametrize("part", ["debit", "credit", "kind"])
def test_a_key_is_for_one_movement_between_the_same_accounts(lab: Organisation, part: str) -> None:
    top_up(lab, 500)
    post(PLATFORM, posting=refund(lab))
    other = {
        "debit": organisation_account(lab.pk, AccountKind.REVENUE),
        "credit": platform_account(AccountKind.WRITE_OFF),
        "kind": TransferKind.CORRECTION,
    }
    with pytest.raises(Conflict, match="This reference has already been used for another movement"):
        post(PLATFORM, posting=replace(refund(lab), **{part: other[part]}))
    assert post(PLATFORM, posting=replace(refund(lab), note="another word")).note == "twice paid"


def test_a_key_that_another_organisation_has_used_does_not_exist_for_a_member(lab: Organisation) -> None:
    top_up(lab, 500)
    used = refund(lab)
    post(PLATFORM, posting=used)
    with acting(make_member(make_organisation())), pytest.raises(NotFound):
        post(PLATFORM, posting=used)


def test_a_long_name_of_an_actor_is_cut(lab: Organisation) -> None:
    top_up(lab, 500)
    made = post(replace(PLATFORM, label="ab" * 150), posting=refund(lab))
    assert Transfer.objects.get(pk=made.pk).actor_label == "ab" * 100


def test_a_single_fen_moves_and_less_is_refused_beside_its_field(lab: Organisation) -> None:
    top_up(lab, 1)
    with pytest.raises(Invalid, match=r"^The amount must be more than zero\.$") as refusal:
        post(PLATFORM, posting=refund(lab, 0))
    assert list(refusal.value.fields) == ["amount"]
    post(PLATFORM, posting=refund(lab, 1))
    assert balance(lab) == 0


def test_after_a_refusal_the_transaction_goes_on(lab: Organisation) -> None:
    posting = refund(lab)
    for ask in (lambda: post(PLATFORM, posting=posting), lambda: post_once(PLATFORM, posting)):
        with pytest.raises(InsufficientFunds, match=r"^The available balance does not cover this\.$"):
            ask()
        assert balance(lab) == 0


def test_but_not_for_a_caller_who_spared_two_ways_to_the_server(lab: Organisation) -> None:
    posting = refund(lab)
    with transaction.atomic():
        with pytest.raises(InsufficientFunds, match="The available balance does not cover this"):
            post(PLATFORM, posting=posting, refusal_ends_all=True)
        with pytest.raises(InternalError, match="transaction is aborted"):
            balance(lab)
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ends_all", [False, True])
def test_outside_a_transaction_a_posting_is_one_statement(ends_all: bool) -> None:
    with acting(PLATFORM):
        lab = make_organisation()
        top_up(lab, 500)
        posting = refund(lab)
        with CaptureQueriesContext(connection) as queries:
            post(PLATFORM, posting=posting, refusal_ends_all=ends_all)
    assert len(queries) == 1


def test_a_refusal_of_another_rule_keeps_its_name(lab: Organisation) -> None:
    top_up(lab, 500)
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        post(PLATFORM, posting=replace(refund(lab), credit=wallet(make_organisation())))
    assert violated_constraint(refusal.value) != ledger.WALLET_COVERS_DECISIONS
    assert violated_constraint(IntegrityError("from nowhere")) is None
    with pytest.raises(IntegrityError) as twice, transaction.atomic():
        Account.objects.create(organisation=lab, kind=AccountKind.CASH)
    assert violated_constraint(twice.value) == "account_once"
