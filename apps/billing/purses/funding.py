"""Which vouchers pay for which usage, and how the whole fen are divided. Pure.

The exact price of each piece of usage is allocated to vouchers that fit it, soonest expiry first, each up to its
amount; the wallet pays the rest. Whole fen follow: a voucher owes the whole part of all that it covers. So it makes no
difference how usage is cut and when it is rated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from apps.billing.choices import Resource, VoucherScope
from apps.common.money import whole_fen

_PLACES = 10


@dataclass(frozen=True, slots=True)
class Usage:
    """A piece of usage within [start, end) and its exact price; `key` is the caller's."""

    key: int
    package_id: int
    gpu_model: str
    resource: Resource
    start: datetime
    end: datetime
    exact: Decimal


@dataclass(frozen=True, slots=True)
class Purse:
    """A voucher's state: whole fen used and left, the exact price that it covers."""

    voucher_id: int
    scope: VoucherScope
    package_id: int | None
    gpu_model: str
    valid_from: datetime
    valid_until: datetime
    amount_fen: int
    used_fen: int
    left_fen: int
    covered: Decimal

    def fits(self, usage: Usage) -> bool:
        if usage.start < self.valid_from or self.valid_until < usage.end:
            return False
        return self.is_for(usage.package_id, usage.gpu_model, usage.resource)

    def is_for(self, package_id: int, gpu_model: str, resource: Resource) -> bool:
        match self.scope:
            case VoucherScope.EVERYTHING:
                return True
            case VoucherScope.PACKAGE:
                return package_id == self.package_id
            case VoucherScope.GPU_MODEL:
                return gpu_model == self.gpu_model
            case VoucherScope.STORAGE:
                return resource == Resource.STORAGE


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one piece of usage that a voucher covers; below zero if it is given back."""

    key: int
    voucher_id: int
    exact: Decimal


def allocate_to_vouchers(usages: Iterable[Usage], purses: Sequence[Purse]) -> list[Part]:
    """Parts of usage that vouchers cover. `purses` come in the order in which they are used."""
    room = {purse.voucher_id: purse.amount_fen - purse.covered for purse in purses}
    return [part for usage in usages for part in _allocate_one(usage, purses, room)]


def _allocate_one(usage: Usage, purses: Sequence[Purse], room: dict[int, Decimal]) -> Iterator[Part]:
    need = usage.exact
    for purse in purses:
        taken = min(need, room[purse.voucher_id])
        if taken > 0 and purse.fits(usage):
            room[purse.voucher_id] -= taken
            need -= taken
            yield Part(usage.key, purse.voucher_id, taken)


def returned_share(back: Decimal, part: Decimal, whole: Decimal) -> Decimal:
    """back × part ÷ whole, rounded down at ten places: the voucher's part of usage that is given back."""
    if not whole:
        return Decimal(0)
    return Decimal(_units(back) * _units(part) // _units(whole)).scaleb(-_PLACES)


def _units(amount: Decimal) -> int:
    return int(amount.scaleb(_PLACES).to_integral_value())


def exact_by_voucher(parts: Iterable[Part]) -> dict[int, Decimal]:
    """Exact fen of each voucher."""
    totals: dict[int, Decimal] = {}
    for part in parts:
        totals[part.voucher_id] = totals.get(part.voucher_id, Decimal(0)) + part.exact
    return totals


def divide_whole_fen(
    amount: int, purses: Sequence[Purse], added: Mapping[int, Decimal], *, all_covered: bool
) -> dict[int, int]:
    """Whole fen of `amount` that each voucher pays (amount ≥ 0) or gets back (amount < 0); the wallet has the rest.

    `added`: what each voucher covers in addition, below zero if it is given back. `all_covered`: vouchers cover the
    whole run, so that rounding remainders do not touch the wallet either.
    """
    after = {purse.voucher_id: purse.covered + added.get(purse.voucher_id, Decimal(0)) for purse in purses}
    if amount < 0:
        return _give_back(amount, purses, after, all_covered=all_covered)
    paid, rest = dict.fromkeys(after, 0), amount
    for bound in (whole_fen, _ceiling) if all_covered else (whole_fen,):
        for purse in purses:
            pays = min(bound(after[purse.voucher_id]), purse.used_fen + purse.left_fen) - purse.used_fen
            more = max(min(pays - paid[purse.voucher_id], rest), 0)
            paid[purse.voucher_id] += more
            rest -= more
    return paid


def _give_back(
    amount: int, purses: Sequence[Purse], after: Mapping[int, Decimal], *, all_covered: bool
) -> dict[int, int]:
    back, rest = dict.fromkeys(after, 0), -amount
    for purse in purses:
        back[purse.voucher_id] = max(min(purse.used_fen - whole_fen(after[purse.voucher_id]), rest), 0)
        rest -= back[purse.voucher_id]
    for purse in purses if all_covered else ():
        more = min(purse.used_fen - back[purse.voucher_id], rest)
        back[purse.voucher_id] += more
        rest -= more
    return {voucher_id: -fen for voucher_id, fen in back.items()}


def _ceiling(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))
