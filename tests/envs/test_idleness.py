"""When an environment is idle: the pure decision, for whatever is measured."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.envs import idleness
from apps.envs.choices import Busy
from apps.envs.idleness import Measurement, Verdict, update_verdict
from apps.envs.models import Environment, Watch
from apps.envs.showing import idle_of

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
moments = st.one_of(st.none(), st.integers(-100_000, 100_000).map(lambda s: NOW + timedelta(seconds=s)))
seen = st.builds(
    Measurement,
    now=st.just(NOW),
    started_at=st.integers(0, 100_000).map(lambda s: NOW - timedelta(seconds=s)),
    kernels_busy=st.one_of(st.none(), st.integers(0, 3)),
    cpu_milli=st.one_of(st.none(), st.integers(0, 400)),
    gpu_pct=st.one_of(st.none(), st.floats(0, 100)),
    has_gpu=st.booleans(),
    keep_until=moments,
    kernel_at=moments,
    terminal_at=moments,
    input_at=moments,
)
verdicts = st.builds(
    Verdict,
    busy_at=st.integers(0, 100_000).map(lambda s: NOW - timedelta(seconds=s)),
    cause=st.sampled_from(list(Busy)),
)
at_leisure = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
rules = st.one_of(st.none(), st.integers(1, 10_000))


@at_leisure
@given(seen, st.one_of(st.none(), verdicts), rules)
def test_what_is_in_use_or_unseen_is_never_released(
    look: Measurement, before: Verdict | None, rule: int | None
) -> None:
    verdict = update_verdict(look, before)
    in_use = (
        bool(look.kernels_busy)
        or (look.cpu_milli or 0) >= idleness.CPU_BUSY_MILLI
        or (look.gpu_pct or 0) >= idleness.GPU_BUSY_PCT
        or (look.keep_until is not None and look.keep_until > NOW)
    )
    unseen = look.kernels_busy is None or look.cpu_milli is None or (look.has_gpu and look.gpu_pct is None)
    if in_use or unseen:
        assert verdict.busy_at == NOW
        assert not idleness.is_due(NOW, verdict.busy_at, rule)


def test_a_gpu_that_cannot_be_seen_is_in_use() -> None:
    since = NOW - timedelta(hours=3)
    unseen = Measurement(now=NOW, started_at=since, kernels_busy=0, cpu_milli=0, has_gpu=True, gpu_pct=None)
    assert update_verdict(unseen) == Verdict(NOW, Busy.UNSEEN)
    assert update_verdict(replace(unseen, gpu_pct=0.0)) == Verdict(since, Busy.STARTED)
    assert update_verdict(replace(unseen, has_gpu=False)) == Verdict(since, Busy.STARTED)


@at_leisure
@given(seen, st.one_of(st.none(), verdicts))
def test_use_is_never_forgotten_nor_foretold(look: Measurement, before: Verdict | None) -> None:
    verdict = update_verdict(look, before)
    assert look.started_at <= verdict.busy_at <= NOW
    if before is not None:
        assert verdict.busy_at >= before.busy_at
    for moment in (look.kernel_at, look.terminal_at, look.input_at):
        if moment is not None:
            assert verdict.busy_at >= min(moment, NOW)


@at_leisure
@given(seen, st.one_of(st.none(), verdicts))
def test_without_any_use_only_the_past_counts(look: Measurement, before: Verdict | None) -> None:
    quiet = Measurement(now=NOW, started_at=look.started_at, kernels_busy=0, cpu_milli=0)
    expected = max(look.started_at, before.busy_at) if before else look.started_at
    assert update_verdict(quiet, before).busy_at == expected


@at_leisure
@given(st.integers(0, 20_000), rules)
def test_it_is_warned_before_it_is_released(idle_s: int, rule: int | None) -> None:
    busy_at = NOW - timedelta(seconds=idle_s)
    if idleness.is_due(NOW, busy_at, rule):
        assert idleness.is_warning_due(NOW, busy_at, rule)
    if rule is None:
        assert not idleness.is_warning_due(NOW, busy_at, rule)
    else:
        assert idleness.is_due(NOW, busy_at, rule) == (idle_s >= rule * 60)


def test_a_warning_leaves_time_to_come_back() -> None:
    assert not idleness.is_warning_due(NOW, NOW - timedelta(minutes=24), 30)
    assert idleness.is_warning_due(NOW, NOW - timedelta(minutes=25), 30)
    assert not idleness.is_warning_due(NOW, NOW - timedelta(minutes=2), 6)
    assert idleness.is_warning_due(NOW, NOW - timedelta(minutes=3), 6)


@pytest.mark.parametrize("rule", [1, 2, 5, 30])
def test_a_warning_that_is_due_is_on_the_page(rule: int) -> None:
    for idle_s in range(31, rule * 60 + 60):
        busy_at = NOW - timedelta(seconds=idle_s)
        shown = idle_of(Environment(idle_minutes=rule), Watch(busy_at=busy_at), NOW)
        assert shown is not None
        assert shown.soon == idleness.is_warning_due(NOW, busy_at, rule)
