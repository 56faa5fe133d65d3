"""Vouchers in a rating run: the parts that they cover, and the transfers that pay them.

The organisation's wallet is locked: granting, voiding or using a voucher needs that lock, so what is read here is
stable. Money given back goes where it came from, in proportion; an expired voucher gets its part too, which the next
sweep ends with it: it never becomes money of the wallet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import Posting, organisation_account, post
from apps.billing.models import Charge, ChargeCover, RatingRun, Voucher, VoucherUse
from apps.billing.purses.funding import (
    Part,
    Purse,
    Usage,
    allocate_to_vouchers,
    divide_whole_fen,
    exact_by_voucher,
    returned_share,
)
from apps.billing.purses.selectors import purses_of, spendable
from apps.common.actor import Actor

_TINY = Decimal("1e-10")


@dataclass(frozen=True, slots=True)
class Funding:
    """`parts` by piece of usage, `exact` and whole `fen` by voucher; all below zero where the run gives back."""

    parts: Sequence[Part]
    exact: Mapping[int, Decimal]
    fen: Mapping[int, int]

    @property
    def total_fen(self) -> int:
        return sum(self.fen.values())

    def by_piece(self) -> Mapping[int, Decimal]:
        """Exact fen of each piece of usage that vouchers stand for."""
        totals: dict[int, Decimal] = {}
        for part in self.parts:
            totals[part.key] = totals.get(part.key, Decimal(0)) + part.exact
        return totals


def fund_usage(organisation_id: UUID, usages: Sequence[Usage], amount: int) -> Funding:
    """Vouchers that fit new usage, which costs `amount` whole fen, soonest expiry first."""
    since, until = min(usage.start for usage in usages), max(usage.end for usage in usages)
    purses = purses_of(spendable(organisation_id).filter(valid_from__lt=until, valid_until__gt=since))
    return _funding(allocate_to_vouchers(usages, purses), purses, usages, amount)


def fund_return(usages: Sequence[Usage], sources: Sequence[Charge], amount: int) -> Funding:
    """Vouchers that get back their part of `usages` (exact below zero), each charged by the source at its index."""
    covers = ChargeCover.objects.filter(charge__in=sources).order_by("voucher__valid_until", "voucher_id")
    by_charge: dict[int, list[ChargeCover]] = {}
    for cover in covers:
        by_charge.setdefault(cover.charge_id, []).append(cover)
    parts = [
        Part(usage.key, cover.voucher_id, -returned_share(-usage.exact, cover.exact_fen, source.exact_fen))
        for usage, source in zip(usages, sources, strict=True)
        for cover in by_charge.get(source.pk, ())
    ]
    purses = purses_of(Voucher.objects.filter(pk__in={part.voucher_id for part in parts}))
    return _funding([part for part in parts if part.exact], purses, usages, amount)


def _funding(parts: Sequence[Part], purses: Sequence[Purse], usages: Sequence[Usage], amount: int) -> Funding:
    exact = exact_by_voucher(parts)
    uncovered = sum((usage.exact for usage in usages), Decimal(0)) - sum(exact.values(), Decimal(0))
    # Parts given back are rounded down at the last place.
    all_covered = bool(parts) and abs(uncovered) <= _TINY * len(parts)
    return Funding(parts, exact, divide_whole_fen(amount, purses, exact, all_covered=all_covered))


def pay_by_vouchers(actor: Actor, run: RatingRun, funding: Funding, *, idem: str, gives_back: TransferKind) -> None:
    """Write the uses of a run, with a transfer for each voucher of which whole fen moved."""
    touched = {voucher_id for voucher_id, fen in funding.fen.items() if fen} | funding.exact.keys()
    if not touched:
        return
    vouchers = organisation_account(run.organisation_id, AccountKind.VOUCHER)
    revenue = organisation_account(run.organisation_id, AccountKind.REVENUE)
    for voucher_id in sorted(touched):
        fen = funding.fen.get(voucher_id, 0)
        posting = Posting(
            debit=vouchers if fen > 0 else revenue,
            credit=revenue if fen > 0 else vouchers,
            amount_fen=abs(fen),
            kind=TransferKind.USAGE if fen > 0 else gives_back,
            idem=f"{idem}:voucher:{voucher_id}",
            ref=f"voucher:{voucher_id}",
        )
        VoucherUse.objects.create(
            organisation_id=run.organisation_id,
            voucher_id=voucher_id,
            run=run,
            exact_fen=funding.exact.get(voucher_id, Decimal(0)),
            amount_fen=fen,
            transfer=post(actor, posting=posting) if fen else None,
        )


def write_covers(charges: Sequence[Charge], funding: Funding) -> None:
    """Write the parts with their charges; the key of a piece of usage is its index in `charges`."""
    ChargeCover.objects.bulk_create(
        [
            ChargeCover(
                organisation_id=charges[part.key].organisation_id,
                charge=charges[part.key],
                voucher_id=part.voucher_id,
                exact_fen=part.exact,
            )
            for part in funding.parts
        ]
    )
