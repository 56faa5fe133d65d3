"""Cron expressions: what is read, what is refused in words, and which moments they name, also across summer time."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.schedules.cron.expression import Cron, read_cron
from apps.schedules.cron.moments import latest_moment, next_moment, next_moments, require_moments
from apps.schedules.cron.words import cron_words

SHANGHAI, BERLIN, NEW_YORK = (ZoneInfo(name) for name in ("Asia/Shanghai", "Europe/Berlin", "America/New_York"))
MINUTE = timedelta(minutes=1)


def at(text: str, zone: ZoneInfo = SHANGHAI) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def local(moments: list[datetime], zone: ZoneInfo) -> list[str]:
    return [f"{moment.astimezone(zone):%m-%d %H:%M}" for moment in moments]


def named(cron: Cron, moment: datetime) -> bool:
    """Whether the clock that shows `moment` fits, by the fields alone."""
    fits = moment.minute in cron.minutes and moment.hour in cron.hours
    return fits and cron.has_day(moment.day, moment.month, moment.isoweekday() % 7)


numbers = st.integers(0, 59)
fields = st.tuples(
    st.sampled_from(["*", "*/15", "0", "7,31", "50-10", "*/7", "5/20"]),
    st.sampled_from(["*", "*/6", "2", "1-3", "22-2", "0,12"]),
    st.sampled_from(["*", "1", "*/2", "28-31", "15"]),
    st.sampled_from(["*", "2", "3,10,11", "mar", "nov-jan"]),
    st.sampled_from(["*", "1-5", "sun", "0", "7", "5-7", "*/2"]),
)
# Seven years from the beginning of 2023 on.
moments = st.integers(0, 7 * 365 * 24 * 60).map(lambda number: datetime(2023, 1, 1, tzinfo=UTC) + number * MINUTE)


@given(fields, moments, st.sampled_from([SHANGHAI, BERLIN, NEW_YORK]))
def test_each_moment_is_later_than_the_one_before_and_the_latest_is_one_of_them(
    parts: tuple[str, ...], after: datetime, zone: ZoneInfo
) -> None:
    cron = read_cron(" ".join(parts))
    found = next_moments(cron, after, zone, 5)
    assert all(first < second for first, second in pairwise([after, *found]))
    for moment in found:
        assert latest_moment(cron, moment, zone) == moment
        assert latest_moment(cron, moment + MINUTE / 2, zone) == moment
    for first, second in pairwise(found):
        assert latest_moment(cron, second - MINUTE / 2, zone) == first


@given(fields, moments)
def test_in_a_zone_without_summer_time_they_are_what_the_clock_shows(parts: tuple[str, ...], after: datetime) -> None:
    cron = read_cron(" ".join(parts))
    start = after.replace(second=0, microsecond=0)
    ahead = (start + number * MINUTE for number in range(1, 2 * 24 * 60))
    shown = [moment for moment in ahead if named(cron, moment.astimezone(SHANGHAI))]
    until = start + timedelta(days=2) - MINUTE
    assert [m for m in next_moments(cron, start, SHANGHAI, len(shown) + 1) if m <= until] == shown


@given(st.sampled_from(["* * * * *", "*/15 * * * *", "20 * * * *"]), st.sampled_from([BERLIN, NEW_YORK]))
def test_an_expression_for_every_hour_goes_on_through_both_changes(text: str, zone: ZoneInfo) -> None:
    cron = read_cron(text)
    for day in (at("2026-03-08T00:00", zone), at("2026-03-29T00:00", zone), at("2026-10-25T00:00", zone)):
        found = next_moments(cron, day, zone, 300)
        assert len({second - first for first, second in pairwise(found)}) == 1


def test_a_time_that_the_clock_skips_is_an_hour_later_and_one_shown_twice_is_the_first() -> None:
    cron = read_cron("30 2 * * *")
    spring = next_moments(cron, at("2026-03-28T12:00", BERLIN), BERLIN, 2)
    assert local(spring, BERLIN) == ["03-29 03:30", "03-30 02:30"]
    autumn = next_moments(cron, at("2026-10-24T12:00", BERLIN), BERLIN, 2)
    assert local(autumn, BERLIN) == ["10-25 02:30", "10-26 02:30"]
    assert autumn[0] == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_days_that_are_seldom_and_days_that_never_are() -> None:
    leap = next_moments(read_cron("0 0 29 2 *"), at("2026-01-01T00:00"), SHANGHAI, 2)
    assert local(leap, SHANGHAI) == ["02-29 00:00"] * 2
    assert [moment.astimezone(SHANGHAI).year for moment in leap] == [2028, 2032]
    assert next_moment(read_cron("0 0 29 2 *"), at("2096-03-01T00:00"), SHANGHAI) == at("2104-02-29T00:00")
    for never in ("0 0 31 2 *", "0 0 30 feb *", "0 0 31 4,6,9,11 *"):
        assert next_moment(read_cron(never), at("2026-01-01T00:00"), SHANGHAI) is None
        assert latest_moment(read_cron(never), at("2026-01-01T00:00"), SHANGHAI) is None
        with pytest.raises(Invalid) as refused:
            require_moments(read_cron(never), at("2026-01-01T00:00"), SHANGHAI)
        assert "no such day" in str(refused.value.message)


def test_a_day_of_the_month_or_of_the_week_unless_one_begins_with_a_star() -> None:
    either = next_moments(read_cron("0 0 13 * fri"), at("2026-11-01T00:00"), SHANGHAI, 4)
    assert local(either, SHANGHAI) == ["11-06 00:00", "11-13 00:00", "11-20 00:00", "11-27 00:00"]
    both = next_moments(read_cron("0 0 */2 * fri"), at("2026-11-01T00:00"), SHANGHAI, 2)
    assert local(both, SHANGHAI) == ["11-13 00:00", "11-27 00:00"]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("0 2 * * 7", "0 2 * * 0"),
        ("0 2 * * 5-7", "0 2 * * 0,5,6"),
        ("0 2 * * 0-7", "0 2 * * *"),
        ("0 2 * * sun-7", "0 2 * * *"),
        ("0 2 * JAN Mon-Fri", "0 2 * 1 1-5"),
        ("5/20 * * * *", "5,25,45 * * * *"),
        ("  0   2 * *\t* ", "0 2 * * *"),
        ("0 22-2 * * *", "0 0,1,2,22,23 * * *"),
    ],
)
def test_spellings_of_the_same(text: str, same: str) -> None:
    start = at("2026-11-27T00:00")
    assert next_moments(read_cron(text), start, SHANGHAI, 40) == next_moments(read_cron(same), start, SHANGHAI, 40)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "five fields"),
        ("0 2 * *", "five fields"),
        ("0 2 * * * *", "five fields"),
        ("@daily", "five fields"),
        ("60 2 * * *", "“60” is no minute"),
        ("0 24 * * *", "“24” is no hour"),
        ("0 2 0 * *", "“0” is no day of the month"),
        ("0 2 * 13 *", "“13” is no month"),
        ("0 2 * * 8", "“8” is no day of the week"),
        ("0 2 * * foo", "“foo” is no day of the week"),
        ("*/0 2 * * *", "“*/0” is no minute"),
        ("1,,2 2 * * *", "is no minute"),
        ("*-5 2 * * *", "is no minute"),
        ("-5 2 * * *", "is no minute"),
        ("１ 2 * * *", "is no minute"),
        ("0 L * * *", "is no hour"),
        ("0 2 * * 1#2", "is no day of the week"),
        ("0 " + "1," * 60 + "1 * * *", "five fields"),
    ],
)
def test_what_is_no_expression_is_said_of_its_field(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_cron(text)
    assert set(refused.value.fields) == {"cron"}
    assert said in str(refused.value.message)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        cron = read_cron(text)
    except Invalid:
        return
    assert cron_words(cron)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 2 * * *", "Every day: at 02:00"),
        ("0 2,14 * * 1-5", "Monday to Friday: at 02:00, 14:00"),
        ("*/15 * * * *", "Every day: every 15 minutes"),
        ("* * * * *", "Every day: every minute"),
        ("5 * * * *", "Every day: every hour at minute 5"),
        ("0 2 1,15 * *", "On day 1, 15 of the month: at 02:00"),
        ("0 2 * jan sun,mon", "Monday, Sunday in January: at 02:00"),
        ("0 2 13 * fri", "On day 13 of the month, and on each Friday: at 02:00"),
        ("0 2 */15 * fri", "On day 1, 16, 31 of the month, if it is a Friday: at 02:00"),
        ("*/10 8-18 * * *", "Every day: every 10 minutes in the hours 8, 9, 10"),
        ("1-59/7 8-18 * * *", "Every day: at minute 1, 8, 15"),
    ],
)
def test_in_words(text: str, words: str) -> None:
    with translation.override("en"):
        assert cron_words(read_cron(text)).startswith(words)
