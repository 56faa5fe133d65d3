"""Vouchers in a rating run: what they stand for of it, and the transfers that they pay it with.

The organisation's wallet is locked: whoever grants, voids or uses a voucher waits for it, so what is read here stays.
What is given back goes where it came from, in proportion; a voucher that is over gets its part too, and the next
sweep ends that with it: it never becomes money of the wallet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Q

from apps.billing.choices import AccountKind, TransferKind, VoucherScope
from apps.billing.funding import Part, Purse, Usage, divide, lay, share_back, sums
from apps.billing.models import Charge, ChargeCover, RatingRun, Voucher, VoucherUse
from apps.billing.services.ledger import Posting, organisation_account, post
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
    purses = purses_of(organisation_id, since=min(each.start for each in usages), until=max(u.end for u in usages))
    return _funding(lay(usages, purses), purses, usages, amount)


def fund_return(usages: Sequence[Usage], sources: Sequence[Charge], amount: int) -> Funding:
    """Vouchers that get back their part of `usages` (exact below zero); each was charged by the source beside it."""
    covers = ChargeCover.objects.filter(charge__in=sources).order_by("voucher__valid_until", "voucher_id")
    by_charge: dict[int, list[ChargeCover]] = {}
    for cover in covers:
        by_charge.setdefault(cover.charge_id, []).append(cover)
    parts = [
        Part(usage.key, cover.voucher_id, -share_back(-usage.exact, cover.exact_fen, source.exact_fen))
        for usage, source in zip(usages, sources, strict=True)
        for cover in by_charge.get(source.pk, ())
    ]
    rows = Voucher.objects.filter(pk__in={part.voucher_id for part in parts}).order_by("valid_until", "pk")
    return _funding([part for part in parts if part.exact], [purse_of(row) for row in rows], usages, amount)


def _funding(parts: Sequence[Part], purses: Sequence[Purse], usages: Sequence[Usage], amount: int) -> Funding:
    exact = sums(parts)
    uncovered = sum((usage.exact for usage in usages), Decimal(0)) - sum(exact.values(), Decimal(0))
    # Parts given back are rounded down at the last place.
    all_covered = bool(parts) and abs(uncovered) <= _TINY * len(parts)
    return Funding(parts, exact, divide(amount, purses, exact, all_covered=all_covered))


def purses_of(organisation_id: UUID, *, since: datetime, until: datetime) -> list[Purse]:
    """Vouchers with something left that are valid at some time of [since, until), in the order of their use."""
    rows = Voucher.objects.filter(organisation_id=organisation_id, voided_at__isnull=True, left_fen__gt=0)
    valid = rows.filter(Q(valid_from__lt=until) & Q(valid_until__gt=since))
    return [purse_of(row) for row in valid.order_by("valid_until", "pk")]


def purse_of(voucher: Voucher) -> Purse:
    return Purse(
        voucher_id=voucher.pk,
        scope=VoucherScope(voucher.scope),
        package_id=voucher.package_id,
        gpu_model=voucher.gpu_model,
        valid_from=voucher.valid_from,
        valid_until=voucher.valid_until,
        amount_fen=voucher.amount_fen,
        used_fen=voucher.used_fen,
        left_fen=voucher.left_fen,
        covered=voucher.covered_exact,
    )


def pay_by_vouchers(actor: Actor, run: RatingRun, funding: Funding, *, idem: str, gives_back: TransferKind) -> None:
    """Write the uses of a run: a transfer for each voucher that whole fen of moved."""
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
    """The parts beside their charges; the key of a piece of usage is its place in `charges`."""
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
