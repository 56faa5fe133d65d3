"""Accounts and postings: the only code that writes transfers."""

from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import ORGANISATION_KINDS, AccountKind, TransferKind
from apps.billing.models import Account, Transfer
from apps.common.actor import Actor
from apps.common.errors import Conflict, InsufficientFunds, Invalid, NotFound

WALLET_COVERS_DECISIONS = "wallet_covers_decisions"
# One statement, as every posting passes here: the key decides by itself whether there is anything to write.
INSERT = """
INSERT INTO billing_transfer (
    organisation_id, debit_id, credit_id, amount_fen, kind, idem, ref, note, actor_id, actor_label
) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (idem) DO NOTHING RETURNING id, at
"""
# In the model's own order, which `from_db` goes by.
COLUMNS = tuple(field.attname for field in Transfer._meta.concrete_fields)


@dataclass(frozen=True, slots=True)
class Posting:
    """One movement to write: `amount_fen` leaves `debit` and reaches `credit`. `idem` is its business key."""

    debit: Account
    credit: Account
    amount_fen: int
    kind: TransferKind
    idem: str
    ref: str = ""
    note: str = ""


def organisation_account(organisation_id: UUID, kind: AccountKind) -> Account:
    """The account, opened on first use together with its siblings; NotFound outside the active scope."""
    account = _find(organisation_id, kind)
    if account is None:
        # One statement in a fixed order: ids, and with them the order of locks, agree for every organisation.
        Account.objects.bulk_create(
            [Account(organisation_id=organisation_id, kind=each) for each in ORGANISATION_KINDS], ignore_conflicts=True
        )
        account = _find(organisation_id, kind)
    if account is None:
        raise NotFound
    return account


def platform_account(kind: AccountKind) -> Account:
    account = _find(None, kind)
    if account is None:
        Account.objects.bulk_create([Account(kind=kind)], ignore_conflicts=True)
        account = _find(None, kind)
    if account is None:
        raise NotFound
    return account


def clearing_and_wallet(clearing: AccountKind, organisation_id: UUID) -> tuple[Account, Account]:
    """The platform's account that money arrives at, and the wallet that it goes on to: one statement for both."""
    ours = Q(organisation__isnull=True, kind=clearing)
    rows = Account.objects.filter(ours | Q(organisation=organisation_id, kind=AccountKind.CASH))
    found = {account.kind: account for account in rows}
    return (
        found.get(clearing) or platform_account(clearing),
        found.get(AccountKind.CASH) or organisation_account(organisation_id, AccountKind.CASH),
    )


def lock_wallet(organisation_id: UUID) -> Account:
    """The wallet, locked until the transaction ends. Every decision about its money takes this lock."""
    rows = Account.objects.select_for_update(no_key=True).filter(organisation=organisation_id, kind=AccountKind.CASH)
    locked: Account | None = rows.first()
    if locked is None:
        organisation_account(organisation_id, AccountKind.CASH)
        locked = rows.get()
    return locked


def post(actor: Actor, *, posting: Posting, refusal_ends_all: bool = False) -> Transfer:
    """Write the transfer once. A repeated key returns the existing row, or raises Conflict if the content differs.

    Raises Invalid for an amount that is not positive and InsufficientFunds where a wallet does not cover a decision
    (usage is not one: see sql/transfer_apply.sql). After a refusal the caller's transaction can go on, unless
    `refusal_ends_all`, which saves two round trips to the server.
    """
    return post_once(actor, posting, refusal_ends_all=refusal_ends_all)[0]


def post_once(actor: Actor, posting: Posting, *, refusal_ends_all: bool = False) -> tuple[Transfer, bool]:
    """Like `post`; also returns True if this call has written the transfer."""
    if posting.amount_fen <= 0:
        raise Invalid.field("amount", _("The amount must be more than zero."))
    try:
        if refusal_ends_all or not connection.in_atomic_block:
            written = _write(actor, posting)
        else:
            with transaction.atomic():
                written = _write(actor, posting)
    except IntegrityError as error:
        if violated_constraint(error) == WALLET_COVERS_DECISIONS:
            raise InsufficientFunds(_("The available balance does not cover this.")) from error
        raise
    return (_transfer_with_key(posting), False) if written is None else (written, True)


def violated_constraint(error: IntegrityError) -> str | None:
    """The name of the constraint that refused, as Postgres reports it."""
    name: str | None = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    return name


def _find(organisation_id: UUID | None, kind: AccountKind) -> Account | None:
    found: Account | None = Account.objects.filter(organisation=organisation_id, kind=kind).first()
    return found


def _write(actor: Actor, posting: Posting) -> Transfer | None:
    """None if the key is taken. The trigger (sql/transfer_apply.sql) checks whose it is."""
    values = (
        posting.debit.organisation_id or posting.credit.organisation_id,
        posting.debit.pk,
        posting.credit.pk,
        posting.amount_fen,
        posting.kind,
        posting.idem,
        posting.ref,
        posting.note,
        actor.user_id,
        actor.label[:200],
    )
    with connection.cursor() as cursor:
        cursor.execute(INSERT, values)
        row = cursor.fetchone()
    if row is None:
        return None
    transfer_id, at = row
    # As a query would load it, which takes half as long as naming each field does.
    written: Transfer = Transfer.from_db(connection.alias, COLUMNS, (transfer_id, *values, at))
    return written


def _transfer_with_key(posting: Posting) -> Transfer:
    """The transfer that has the key; Conflict if it is another movement, NotFound outside the active scope."""
    known: Transfer | None = Transfer.objects.filter(idem=posting.idem).first()
    if known is None:
        raise NotFound
    content = (posting.debit.pk, posting.credit.pk, posting.amount_fen, posting.kind, posting.ref)
    if content != (known.debit_id, known.credit_id, known.amount_fen, known.kind, known.ref):
        raise Conflict(_("This reference has already been used for another movement."))
    return known
