"""The calendar of prepaid time and who sits on its places: pure properties."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.choices import Term
from apps.billing.covering import Cover, Covering, Occupant
from apps.billing.periods import day_end, days_between, earned_after, period_start, price_of_rest, used_by

SHANGHAI = ZoneInfo("Asia/Shanghai")
SEVEN_YEARS = 7 * 365 * 86_400_000_000
moments = st.integers(0, SEVEN_YEARS).map(lambda n: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(microseconds=n))
terms = st.sampled_from((Term.DAY, Term.MONTH, Term.YEAR))


def shanghai(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=SHANGHAI)


@pytest.mark.parametrize(
    ("anchor", "term", "expected"),
    [
        ("2027-01-31T15:00", Term.MONTH, ["2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"]),
        ("2028-01-31T15:00", Term.MONTH, ["2028-02-29", "2028-03-31"]),
        ("2028-02-29T15:00", Term.YEAR, ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]),
        ("2026-12-31T15:00", Term.DAY, ["2027-01-01", "2027-01-02"]),
        ("2026-12-31T15:00", Term.MONTH, ["2027-01-31", "2027-02-28", "2027-03-31"]),
    ],
)
def test_periods_are_clamped_and_come_back(anchor: str, term: Term, expected: list[str]) -> None:
    starts = [period_start(shanghai(anchor), term, n) for n in range(1, len(expected) + 1)]
    assert starts == [shanghai(f"{day}T15:00") for day in expected]


def test_the_day_is_the_billing_zones() -> None:
    """01:00 on 1 March in Shanghai is still February in UTC."""
    anchor = datetime(2027, 2, 28, 17, tzinfo=UTC)
    assert period_start(anchor, Term.MONTH, 1) == shanghai("2027-04-01T01:00")


def test_an_hour_has_no_periods() -> None:
    with pytest.raises(ValueError, match="hour"):
        period_start(shanghai("2027-01-01T00:00"), Term.HOUR, 1)


@given(moments, terms, st.integers(0, 40))
def test_periods_follow_each_other_and_never_drift(anchor: datetime, term: Term, number: int) -> None:
    start, end = (period_start(anchor, term, n) for n in (number, number + 1))
    assert start < end
    assert (end - start) % timedelta(days=1) == timedelta(0)
    day, first = start.astimezone(SHANGHAI), anchor.astimezone(SHANGHAI)
    assert day.time() == first.time()
    tomorrow = day + timedelta(days=1)
    assert term is Term.DAY or day.day == first.day or (day.day < first.day and tomorrow.day == 1)


spans = st.tuples(moments, st.integers(1, 400 * 86_400_000_000)).map(
    lambda found: (found[0], found[0] + timedelta(microseconds=found[1]))
)
amounts = st.integers(1, 10**12)


@given(amounts, spans)
def test_everything_is_earned_by_the_end_and_nothing_too_early(amount: int, span: tuple[datetime, datetime]) -> None:
    start, end = span
    total = days_between(start, end)
    earned = [earned_after(amount, start, end, day) for day in range(total + 1)]
    assert earned[0] == 0
    assert earned[-1] == amount
    assert earned == sorted(earned)
    assert len({after - before for before, after in pairwise(earned[:-1])}) <= 1
    for day in range(total + 1):
        at = day_end(start, end, day)
        assert earned[day] <= used_by(amount, start, end, at)


@given(amounts, spans, st.fractions(-1, 2))
def test_used_and_rest_are_within_what_was_paid(amount: int, span: tuple[datetime, datetime], share: object) -> None:
    start, end = span
    at = start + timedelta(microseconds=int((end - start) / timedelta(microseconds=1) * share))  # type: ignore[operator]
    used = used_by(amount, start, end, at)
    assert 0 <= used <= amount
    if at < end:
        rest = price_of_rest(amount, start, end, at)
        assert amount - used <= rest <= amount - used + 1
        assert rest > 0


PACKAGES = (1, 2)
START = datetime(2026, 11, 1, tzinfo=UTC)
minutes = st.integers(0, 300).map(lambda n: START + timedelta(minutes=n))


@st.composite
def coverings(draw: st.DrawFn) -> Covering:
    covers = draw(
        st.lists(st.builds(_cover, st.sampled_from(PACKAGES), minutes, minutes, st.integers(1, 4)), max_size=4)
    )
    number = draw(st.integers(1, 6))
    return Covering(covers, [draw(_occupants(n)) for n in range(number)])


@st.composite
def _occupants(draw: st.DrawFn, number: int) -> Occupant:
    opened, length = draw(minutes), draw(st.none() | st.integers(0, 200))
    closed = None if length is None else opened + timedelta(minutes=length)
    return Occupant(UUID(int=number), draw(st.sampled_from(PACKAGES)), opened, closed, draw(st.integers(1, 3)))


def runs_at(who: Occupant, at: datetime) -> bool:
    return who.opened <= at and (who.closed is None or at < who.closed)


def _cover(package: int, one: datetime, other: datetime, quantity: int) -> Cover:
    return Cover(package, min(one, other), max(one, other) + timedelta(minutes=1), quantity)


@given(coverings(), minutes)
def test_no_more_is_covered_than_was_bought(covering: Covering, at: datetime) -> None:
    for package in PACKAGES:
        who = [each for each in covering.occupants if each.package_id == package and runs_at(each, at)]
        places = sum(c.quantity for c in covering.covers if c.package_id == package and c.start <= at < c.end)
        wanted = sum(each.replicas for each in who)
        assert sum(covering.at(each, at) for each in who) == min(places, wanted)


@given(coverings(), minutes, minutes, minutes)
def test_cutting_elsewhere_changes_nothing(covering: Covering, one: datetime, two: datetime, three: datetime) -> None:
    start, middle, end = sorted((one, two, three))
    who = covering.occupants[0]

    def total(pieces: list[tuple[datetime, datetime, int]]) -> timedelta:
        return sum(((b - a) * covered for a, b, covered in pieces), timedelta(0))

    whole = list(covering.pieces(who, start, end))
    halves = [*covering.pieces(who, start, middle), *covering.pieces(who, middle, end)]
    assert total(whole) == total(halves)
    edges = [start, *(b for _a, b, _c in whole)]
    assert [(a, b) for a, b, _c in whole] == list(pairwise(edges))
    assert start == end or edges[-1] == end
    assert all(before[2] != after[2] for before, after in pairwise(whole))


@given(coverings(), minutes, minutes)
def test_later_sessions_do_not_matter(covering: Covering, one: datetime, two: datetime) -> None:
    start, end = sorted((one, two))
    who = min(covering.occupants, key=lambda each: (each.opened, each.session_id))
    alone = Covering(covering.covers, [who])
    assert list(covering.pieces(who, start, end)) == list(alone.pieces(who, start, end))


@given(coverings(), minutes, minutes, st.data())
def test_what_is_certain_stays_whatever_becomes_known_later(
    covering: Covering, one: datetime, two: datetime, data: st.DataObject
) -> None:
    """Who is open was seen at some time and may have ended there, later or not yet: up to then nothing changes."""
    start, end = sorted((one, two))
    later = st.none() | st.integers(0, 200)
    known, truth = [], []
    for each in covering.occupants:
        proven = each.opened + timedelta(minutes=data.draw(st.integers(0, 200)))
        runs = None if (more := data.draw(later)) is None else proven + timedelta(minutes=more)
        known.append(each if each.closed else replace(each, proven=proven))
        truth.append(each if each.closed else replace(each, closed=runs))
    now = Covering(covering.covers, known)
    afterwards = Covering(covering.covers, truth)
    for who, same in zip(known, truth, strict=True):
        until = now.certain_until(who, start, end)
        assert start <= until <= end
        assert list(now.pieces(who, start, until)) == list(afterwards.pieces(same, start, until))


def test_who_is_silent_for_too_long_has_left() -> None:
    first = Occupant(UUID(int=1), 1, START, None, 1, proven=START + timedelta(minutes=10))
    second = Occupant(UUID(int=2), 1, START, None, 1, proven=START + timedelta(hours=3))
    covers = [Cover(1, START, START + timedelta(days=1), 1)]
    ends = START + timedelta(hours=3)
    doubted = Covering(covers, [first, second])
    assert doubted.certain_until(second, START, ends) == START + timedelta(minutes=10)
    assert doubted.certain_until(first, START, ends) == ends
    given_up = Covering(covers, [first, second], silent_before=START + timedelta(minutes=11))
    assert given_up.certain_until(second, START, ends) == ends
    assert [covered for _a, _b, covered in given_up.pieces(second, START, ends)] == [0, 1]
