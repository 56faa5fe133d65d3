"""Numbers as people read them."""

from datetime import datetime, timedelta

import pytest
from django.template import Context, Template
from django.utils import timezone, translation

from apps.common import formatting


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "—"),
        (0, "0 s"),
        (0.42, "0.4 s"),
        (38.4, "38 s"),
        (59.6, "1 min"),
        (258, "4 min 18 s"),
        (125, "2 min 05 s"),
        (7200, "2 h"),
        (11_520, "3 h 12 min"),
        (6 * 86_400 + 5 * 3600 + 59, "6 d 5 h"),
        (86_400, "1 d"),
        (-3, "0 s"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float | None, text: str) -> None:
    with translation.override("en"):
        assert formatting.duration(seconds) == text


def test_a_running_clock_shows_no_seconds_after_the_first_minute() -> None:
    with translation.override("en"):
        assert [formatting.elapsed(s) for s in (59, 60, 119, 3700)] == ["59 s", "1 min", "1 min", "1 h 1 min"]


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00:00"), (11_520.9, "3:12:00"), (360_000, "100:00:00")])
def test_a_clock_never_rounds_up(seconds: float, text: str) -> None:
    assert formatting.clock(seconds) == text


def test_a_moment_is_as_short_as_the_day_allows() -> None:
    now = timezone.localtime()
    noon = now.replace(hour=12, minute=3, second=4, microsecond=0)
    assert formatting.moment(noon) == "12:03"
    assert formatting.moment(noon, seconds=True) == "12:03:04"
    long_ago = datetime(2019, 2, 28, 3, 10, tzinfo=timezone.get_current_timezone())
    assert formatting.moment(long_ago) == "2019-02-28 03:10"
    assert formatting.moment(None) == "—"


def test_a_moment_of_this_year_names_its_day() -> None:
    now = timezone.localtime()
    other = now - timedelta(days=1) if now.timetuple().tm_yday > 1 else now + timedelta(days=1)
    assert formatting.moment(other).startswith(other.strftime("%m-%d "))


@pytest.mark.parametrize("days", [3, 40, 800])
def test_of_a_far_estimate_only_the_day_is_said(days: int) -> None:
    far = timezone.localtime() + timedelta(days=days)
    assert formatting.estimated_moment(far) in {far.strftime("%m-%d"), far.strftime("%Y-%m-%d")}
    near = timezone.localtime() + timedelta(hours=30)
    assert formatting.estimated_moment(near) == formatting.moment(near)
    assert formatting.estimated_moment(None) == "—"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (31_600_000, "31.6 MB"), (2 * 10**18, "2,000 PB"), (None, "—")],
)
def test_file_sizes_are_decimal(count: int | None, text: str) -> None:
    assert formatting.file_size(count) == text


def test_memory_cores_and_shares() -> None:
    assert [formatting.memory(m) for m in (512, 1536, 245_760, None)] == ["512 MiB", "1.5 GiB", "240 GiB", "—"]
    assert formatting.gpu_memory(81_920) == "80 GB"
    assert [formatting.cores(m) for m in (500, 14_200, 32_000)] == ["0.5", "14.2", "32"]
    assert [formatting.percent(p) for p in (0, 4.25, 93.4, None)] == ["0%", "4.2%", "93%", "—"]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_thousands_stand_apart_in_every_language(language: str) -> None:
    with translation.override(language):
        shown = Template('{{ n|floatformat:"0g" }} {{ n }}').render(Context({"n": 1234567}))
    assert shown == "1,234,567 1234567"


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (("One.", "", "Two."), "One. Two."),
        (("一。", "二。"), "一。二。"),
        (("", "Two."), "Two."),
        ((), ""),
    ],
)
def test_sentences_follow_one_another_as_the_language_has_it(parts: tuple[str, ...], told: str) -> None:
    assert formatting.sentences(*parts) == told
