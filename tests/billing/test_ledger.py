"""The books: what the database lets in, and from whom."""

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.billing import selectors, services
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import organisation_account, platform_account
from apps.billing.models import Account, Transfer
from apps.common.actor import Actor
from apps.common.errors import Conflict, InsufficientFunds, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_member, make_organisation, top_up, wallet


def refund(organisation: Organisation, fen: int, idem: str = "refund:1", ref: str = "") -> Transfer:
    posting = services.Posting(
        debit=wallet(organisation),
        credit=platform_account(AccountKind.REFUND_CLEARING),
        amount_fen=fen,
        kind=TransferKind.REFUND,
        idem=idem,
        ref=ref,
    )
    return services.post(PLATFORM, posting=posting)


def test_a_transfer_moves_both_balances(lab: Organisation) -> None:
    top_up(lab, 500)
    refund(lab, 120)
    assert balance(lab) == 380
    assert platform_account(AccountKind.OFFLINE_CLEARING).balance_fen == -500
    assert platform_account(AccountKind.REFUND_CLEARING).balance_fen == 120
    assert selectors.drift() == []


def test_the_same_key_and_content_is_the_same_transfer(lab: Organisation) -> None:
    top_up(lab, 500)
    assert refund(lab, 120).pk == refund(lab, 120).pk
    assert balance(lab) == 380


def test_what_a_posting_returns_is_the_row_that_was_written(lab: Organisation) -> None:
    top_up(lab, 500)
    made = refund(lab, 120, ref="slip")
    assert Transfer.objects.filter(pk=made.pk).values().get() == {
        field.attname: getattr(made, field.attname) for field in Transfer._meta.concrete_fields
    }


@pytest.mark.parametrize(("fen", "ref"), [(121, ""), (120, "other")])
def test_the_same_key_with_other_content_is_a_conflict(lab: Organisation, fen: int, ref: str) -> None:
    top_up(lab, 500)
    refund(lab, 120)
    with pytest.raises(Conflict):
        refund(lab, fen, ref=ref)
    assert balance(lab) == 380


def test_a_decision_stops_at_the_credit_limit(lab: Organisation) -> None:
    top_up(lab, 500)
    services.set_credit_limit(PLATFORM, organisation_id=lab.pk, credit_limit_fen=50)
    with pytest.raises(InsufficientFunds):
        refund(lab, 551)
    refund(lab, 550, "refund:2")
    assert balance(lab) == -50


@pytest.mark.parametrize("fen", [0, -1])
def test_an_amount_is_positive(lab: Organisation, fen: int) -> None:
    with pytest.raises(Invalid):
        refund(lab, fen)


def test_money_does_not_move_between_organisations(lab: Organisation) -> None:
    top_up(lab, 500)
    posting = services.Posting(
        debit=wallet(lab),
        credit=wallet(make_organisation()),
        amount_fen=1,
        kind=TransferKind.CORRECTION,
        idem="across",
    )
    with pytest.raises(IntegrityError, match="between organisations"), transaction.atomic():
        services.post(PLATFORM, posting=posting)


def test_only_a_wallet_may_owe_usage(lab: Organisation) -> None:
    posting = services.Posting(
        debit=wallet(lab),
        credit=platform_account(AccountKind.WRITE_OFF),
        amount_fen=1,
        kind=TransferKind.USAGE,
        idem="disguised",
    )
    with pytest.raises(IntegrityError, match="usage is paid"), transaction.atomic():
        services.post(PLATFORM, posting=posting)


def test_another_organisations_account_does_not_exist_for_a_member(lab: Organisation) -> None:
    stranger = make_member(make_organisation())
    with acting(stranger), pytest.raises(NotFound):
        organisation_account(lab.pk, AccountKind.CASH)


def execute(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE billing_account SET balance_fen = balance_fen + 1",
        "UPDATE billing_account SET held_fen = 0",
        "UPDATE billing_account SET kind = 'cash'",
        "DELETE FROM billing_account",
        "UPDATE billing_transfer SET amount_fen = 1",
        "DELETE FROM billing_transfer",
        "TRUNCATE billing_transfer CASCADE",
        "DELETE FROM billing_holdend",
        "UPDATE billing_hold SET amount_fen = 0",
        "ALTER TABLE billing_transfer DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
    ],
)
def test_the_application_role_edits_no_money(lab: Organisation, statement: str) -> None:
    top_up(lab, 500)
    with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"):
        execute(statement)


def test_an_account_cannot_be_opened_with_money_in_it(lab: Organisation) -> None:
    with pytest.raises(IntegrityError, match="starts empty"), transaction.atomic():
        Account.objects.create(organisation=lab, kind=AccountKind.CASH, balance_fen=1)


def test_the_owner_cannot_rewrite_history_either(lab: Organisation) -> None:
    top_up(lab, 500)
    execute("SET LOCAL ROLE NONE")
    for statement in ("UPDATE billing_transfer SET note = 'x'", "DELETE FROM billing_transfer"):
        with pytest.raises(IntegrityError, match="append-only"):
            execute(statement)


def test_a_transfer_names_accounts_that_are_there(lab: Organisation) -> None:
    ours = wallet(lab)
    for debit, credit in ((ours.pk, 0), (0, ours.pk)):
        with pytest.raises(IntegrityError, match="between two accounts"), transaction.atomic():
            Transfer.objects.create(
                debit_id=debit, credit_id=credit, amount_fen=1, kind=TransferKind.USAGE, idem="x", actor_label="x"
            )


def test_a_transfer_is_of_the_organisation_that_its_accounts_are_of(lab: Organisation) -> None:
    """Left open it is looked up, said wrongly it is refused."""
    top_up(lab, 500)
    other, kept = make_organisation(), Transfer.objects.get()
    ours = {"debit": wallet(lab), "credit": organisation_account(lab.pk, AccountKind.REVENUE), "amount_fen": 1}
    rest = {"kind": TransferKind.USAGE, "actor_label": "x"}
    made = Transfer.objects.create(**ours, **rest, idem="open")
    made.refresh_from_db()
    assert made.organisation_id == kept.organisation_id == lab.pk
    with pytest.raises(IntegrityError, match="between organisations"), transaction.atomic():
        Transfer.objects.create(**ours, **rest, idem="wrong", organisation=other)
    clearing, fees = platform_account(AccountKind.OFFLINE_CLEARING), platform_account(AccountKind.FEES)
    with pytest.raises(IntegrityError, match="between organisations"), transaction.atomic():
        Transfer.objects.create(debit=clearing, credit=fees, amount_fen=1, **rest, idem="nobody's", organisation=lab)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM billing_account",
        "UPDATE billing_account SET id = -id",
        "UPDATE billing_account SET kind = 'voucher'",
        "UPDATE billing_account SET organisation_id = NULL WHERE organisation_id IS NOT NULL",
    ],
)
def test_an_account_stays_what_it_is_whoever_asks(lab: Organisation, statement: str) -> None:
    top_up(lab, 500)
    execute("SET LOCAL ROLE NONE")
    with pytest.raises(IntegrityError, match="stays what it is"):
        execute(statement)


def test_an_organisation_with_accounts_stays(lab: Organisation) -> None:
    wallet(lab)
    execute("SET LOCAL ROLE NONE")
    with pytest.raises(IntegrityError, match="billing_account"):
        execute(f"DELETE FROM tenants_organisation WHERE id = '{lab.pk}'; SET CONSTRAINTS ALL IMMEDIATE")


def test_a_dropped_duplicate_moves_nothing(lab: Organisation, alice: Actor) -> None:
    top_up(lab, 500)
    transfer = Transfer.objects.get()
    Transfer.objects.bulk_create(
        [
            Transfer(
                debit=transfer.debit,
                credit=transfer.credit,
                amount_fen=500,
                kind=transfer.kind,
                idem=transfer.idem,
                actor_label=alice.label,
            )
        ],
        ignore_conflicts=True,
    )
    assert balance(lab) == 500
    assert selectors.drift() == []


def test_drift_names_an_account_that_was_tampered_with(lab: Organisation) -> None:
    top_up(lab, 500)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")
        cursor.execute("UPDATE billing_account SET balance_fen = 501 WHERE id = %s", [wallet(lab).pk])
        cursor.execute("SET LOCAL ROLE plstack_app")
    assert [(each.balance_fen, each.transfers_fen) for each in selectors.drift()] == [(501, 500)]
