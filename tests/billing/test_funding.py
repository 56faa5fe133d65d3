"""Who pays for what: for any usage, any vouchers and any cuts, every fen has exactly one payer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from apps.billing.choices import Resource, VoucherScope
from apps.billing.purses.funding import (
    Part,
    Purse,
    Usage,
    allocate_to_vouchers,
    divide_whole_fen,
    exact_by_voucher,
    returned_share,
)
from apps.common.money import whole_fen

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TENTHS = st.integers(1, 10**14).map(lambda units: Decimal(units).scaleb(-10))
SCOPES = st.sampled_from(VoucherScope)


@st.composite
def usages(draw: st.DrawFn) -> list[Usage]:
    def one(key: int) -> Usage:
        start = START + draw(st.integers(0, 5)) * HOUR
        resource = draw(st.sampled_from(Resource))
        model = draw(st.sampled_from(["", "A100", "L40"]))
        return Usage(key, draw(st.integers(1, 3)), model, resource, start, start + HOUR, draw(TENTHS))

    return [one(key) for key in range(draw(st.integers(1, 6)))]


@st.composite
def purses(draw: st.DrawFn) -> list[Purse]:
    def one(number: int) -> Purse:
        amount = draw(st.integers(1, 20_000))
        covered = draw(st.integers(0, amount * 10**10)) * Decimal("1e-10")
        used = whole_fen(covered)
        begins = START + draw(st.integers(-2, 4)) * HOUR
        ends = begins + draw(st.integers(1, 8)) * HOUR
        scope = draw(SCOPES)
        package = draw(st.integers(1, 3)) if scope == VoucherScope.PACKAGE else None
        model = draw(st.sampled_from(["A100", "L40"])) if scope == VoucherScope.GPU_MODEL else ""
        return Purse(number, scope, package, model, begins, ends, amount, used, amount - used, covered)

    found = [one(number) for number in range(draw(st.integers(0, 4)))]
    return sorted((p for p in found if p.left_fen), key=lambda purse: (purse.valid_until, purse.voucher_id))


@given(usages(), purses())
def test_no_voucher_stands_for_more_than_it_has_or_for_what_it_does_not_fit(
    used: list[Usage], owned: list[Purse]
) -> None:
    parts = allocate_to_vouchers(used, owned)
    of = {usage.key: usage for usage in used}
    by_id = {purse.voucher_id: purse for purse in owned}
    for part in parts:
        usage, purse = of[part.key], by_id[part.voucher_id]
        assert part.exact > 0
        assert purse.valid_from <= usage.start
        assert usage.end <= purse.valid_until
        assert purse.fits(usage)
    for voucher_id, exact in exact_by_voucher(parts).items():
        assert by_id[voucher_id].covered + exact <= by_id[voucher_id].amount_fen
    for usage in used:
        assert sum(part.exact for part in parts if part.key == usage.key) <= usage.exact


@given(usages(), purses())
def test_what_could_be_paid_by_a_voucher_is_and_the_soonest_comes_first(used: list[Usage], owned: list[Purse]) -> None:
    room = {purse.voucher_id: purse.amount_fen - purse.covered for purse in owned}
    parts = allocate_to_vouchers(used, owned)
    left = {voucher_id: room[voucher_id] - exact_by_voucher(parts).get(voucher_id, Decimal(0)) for voucher_id in room}
    for usage in used:
        fitting = [purse.voucher_id for purse in owned if purse.fits(usage)]
        paying = [part.voucher_id for part in parts if part.key == usage.key]
        covered = sum(part.exact for part in parts if part.key == usage.key)
        assert covered == usage.exact or all(left[voucher_id] == 0 for voucher_id in fitting)
        # A later one pays only where nothing is left of those before it.
        for voucher_id in fitting[: fitting.index(paying[-1])] if paying else ():
            assert left[voucher_id] == 0


@given(usages(), purses(), st.data())
def test_cutting_a_piece_changes_nothing(used: list[Usage], owned: list[Purse], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(used) - 1))
    whole = used[at]
    first = data.draw(st.integers(0, int(whole.exact.scaleb(10)))) * Decimal("1e-10")
    half = whole.start + HOUR / 2
    cut = [replace(whole, end=half, exact=first), replace(whole, start=half, exact=whole.exact - first)]
    assert exact_by_voucher(allocate_to_vouchers([*used[:at], *cut, *used[at + 1 :]], owned)) == exact_by_voucher(
        allocate_to_vouchers(used, owned)
    )


@given(st.lists(TENTHS, min_size=1, max_size=12), purses())
def test_the_whole_fen_follow_the_exact_however_often_it_is_rated(prices: list[Decimal], owned: list[Purse]) -> None:
    """Run after run: payers add up to the run, no voucher below zero, and none more than a fen from the exact."""
    carried = Decimal(0)
    for price in prices:
        usage = Usage(0, 1, "A100", Resource.COMPUTE, START, START + HOUR, price)
        carried += price
        amount = whole_fen(carried)
        carried -= amount
        live = [purse for purse in owned if purse.left_fen]
        parts = allocate_to_vouchers([usage], live)
        exact = exact_by_voucher(parts)
        covers = sum(exact.values(), Decimal(0)) == price
        paid = divide_whole_fen(amount, live, exact, all_covered=covers)
        assert all(fen >= 0 for fen in paid.values())
        assert sum(paid.values()) <= amount
        owned = [_after(purse, exact, paid) for purse in owned]
        for purse in owned:
            assert purse.left_fen >= 0
            assert purse.used_fen < purse.covered + 1


@given(st.lists(TENTHS, min_size=1, max_size=12))
def test_who_has_vouchers_for_everything_never_pays_from_the_wallet(prices: list[Decimal]) -> None:
    amount_fen = whole_fen(sum(prices, Decimal(0))) + 1
    ends = START + HOUR
    owned = [Purse(1, VoucherScope.EVERYTHING, None, "", START, ends, amount_fen, 0, amount_fen, Decimal(0))]
    carried = Decimal(0)
    for price in prices:
        carried += price
        amount = whole_fen(carried)
        carried -= amount
        exact = exact_by_voucher(allocate_to_vouchers([Usage(0, 1, "", Resource.COMPUTE, START, ends, price)], owned))
        paid = divide_whole_fen(amount, owned, exact, all_covered=True)
        assert paid == {1: amount}
        owned = [_after(owned[0], exact, paid)]


@given(TENTHS, st.integers(0, 100), st.integers(0, 100))
def test_given_back_in_parts_it_is_never_more_than_was_covered(whole: Decimal, covered: int, cut: int) -> None:
    part = (whole * covered / 100).quantize(Decimal("1e-10"), rounding="ROUND_FLOOR")
    first = (whole * cut / 100).quantize(Decimal("1e-10"), rounding="ROUND_FLOOR")
    back = returned_share(first, part, whole) + returned_share(whole - first, part, whole)
    assert part - Decimal("2e-10") <= back <= part


def test_a_return_goes_to_the_voucher_that_had_paid() -> None:
    purse = Purse(7, VoucherScope.EVERYTHING, None, "", START, START + HOUR, 100, 60, 40, Decimal("60.4"))
    assert divide_whole_fen(-30, [purse], {7: Decimal("-30.2")}, all_covered=True) == {7: -30}
    assert divide_whole_fen(-30, [purse], {7: Decimal("-10.2")}, all_covered=False) == {7: -10}
    assert exact_by_voucher([Part(0, 7, Decimal(1)), Part(1, 7, Decimal(2))]) == {7: Decimal(3)}


def _after(purse: Purse, exact: dict[int, Decimal], paid: dict[int, int]) -> Purse:
    fen = paid.get(purse.voucher_id, 0)
    return replace(
        purse,
        used_fen=purse.used_fen + fen,
        left_fen=purse.left_fen - fen,
        covered=purse.covered + exact.get(purse.voucher_id, Decimal(0)),
    )
