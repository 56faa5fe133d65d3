"""A gang in the reconcile loop: its members are looked at together, and what they show adds up to one observation.

All begin together, once each is ready. All end together: the first that ends badly ends the others, and its end is the
attempt's. One that ends well leaves the others to finish.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from apps.workloads.drivers.base import (
    CannotSee,
    DriverError,
    Exit,
    ExitReason,
    Handle,
    Observation,
    Phase,
    StepTime,
    Usage,
)
from apps.workloads.drivers.capabilities import GangMixin
from apps.workloads.models import Member
from apps.workloads.nodes import driver_named
from apps.workloads.reconcile.observed import exit_columns, seen_columns
from apps.workloads.reconcile.outcome import OfGang
from apps.workloads.reconcile.peaks import PEAKS
from apps.workloads.states import Claim

log = logging.getLogger(__name__)

PATH = (Phase.IMAGE, Phase.MOUNT, Phase.BARRIER, Phase.RUNNING)


@dataclass(frozen=True, slots=True)
class Look:
    """What a member shows; its row is up to date with it."""

    member: Member
    seen: Observation

    @property
    def failed(self) -> bool:
        return self.seen.exit is not None and not self.seen.exit.succeeded

    @property
    def proved_until(self) -> datetime:
        """Until when it is known to have run. Of one that has begun."""
        if self.member.started_at is None:
            raise ValueError("a member that has not begun")
        return self.member.started_at + timedelta(seconds=self.seen.ran_for_s or 0.0)


def observe(claim: Claim, members: Sequence[Member], now: datetime, grace_s: float) -> tuple[Observation, OfGang]:
    """Look at all members, write what they show, and let them begin or end together; the gang as one.

    Raises CannotSee where one of them cannot be seen; what the others show has been written, and obeyed.
    """
    looks: list[Look] = []
    unseen: CannotSee | None = None
    for member in members:
        try:
            looks.append(_look(claim, member, now))
        except CannotSee as error:
            unseen = error
    first = first_failure(looks)
    if first is not None:
        _stop([look.member for look in looks if not look.seen.phase.is_final], grace_s)
    elif unseen is None and may_begin([look.seen for look in looks]):
        _release(looks)
    if unseen is not None:
        raise unseen
    peaks = {name: max(_values(looks, name), default=None) for name in PEAKS}
    return sum_up(looks), OfGang(peaks, first.member.rank if first else None)


def may_begin(seen: Sequence[Observation]) -> bool:
    """Whether all have reached the barrier and some have not left it."""
    phases = [each.phase for each in seen]
    return Phase.BARRIER in phases and not {Phase.IMAGE, Phase.MOUNT} & set(phases)


def first_failure(looks: Sequence[Look]) -> Look | None:
    """The member that ended badly before the others did."""
    failed = [look for look in looks if look.failed]
    return min(failed, key=lambda look: (look.member.ended_at, look.member.rank), default=None)


def sum_up(looks: Sequence[Look]) -> Observation:
    """One observation of all: it runs from when the last one began to when the last one ended."""
    live = [look for look in looks if not look.seen.phase.is_final]
    began = [look.member.started_at for look in looks]
    ran_for_s = None
    if None not in began:
        barrier = max(at for at in began if at is not None)
        until = min(look.proved_until for look in live) if live else max(look.proved_until for look in looks)
        ran_for_s = max(0.0, (until - barrier).total_seconds())
    seen = [look.seen for look in looks]
    slowest = min((look.seen for look in live), key=lambda each: PATH.index(each.phase), default=None)
    ages = [each.checkpoint_age_s for each in seen if each.checkpoint_age_s is not None]
    end = None if live else _end(looks)
    return Observation(
        phase=slowest.phase if slowest else Phase.LOST if end and end.reason is ExitReason.LOST else Phase.EXITED,
        steps=_steps(seen),
        progress=slowest.progress if slowest else None,
        ran_for_s=ran_for_s,
        exit=end,
        usage=_usage([each.usage for each in seen if each.usage is not None]),
        checkpoint_age_s=min(ages, default=None),
    )


def _end(looks: Sequence[Look]) -> Exit:
    first = first_failure(looks)
    return Exit(0, None, ExitReason.EXITED) if first is None or first.seen.exit is None else first.seen.exit


def _steps(seen: Sequence[Observation]) -> tuple[StepTime, ...]:
    """Each step as long as it took the slowest."""
    found: dict[Phase, StepTime] = {}
    for step in (step for each in seen for step in each.steps):
        before = found.get(step.name, step)
        found[step.name] = StepTime(step.name, max(before.seconds, step.seconds), before.done and step.done)
    return tuple(found[phase] for phase in PATH if phase in found)


def _usage(uses: Sequence[Usage]) -> Usage | None:
    """The sum of what adds up, the mean of utilisation, the hottest and fullest of the cards."""
    if not uses:
        return None
    utilisation = [use.gpu_util_pct for use in uses if use.gpu_util_pct is not None]
    memory = [use.gpu_memory_mib for use in uses if use.gpu_memory_mib is not None]
    temperature = [use.gpu_temperature_c for use in uses if use.gpu_temperature_c is not None]
    fullest = [use.gpu_fullest_mib for use in uses if use.gpu_fullest_mib is not None]
    return Usage(
        at_s=max(use.at_s for use in uses),
        cpu_milli=sum(use.cpu_milli for use in uses),
        memory_mib=sum(use.memory_mib for use in uses),
        gpu_util_pct=sum(utilisation) / len(utilisation) if utilisation else None,
        gpu_memory_mib=sum(memory) if memory else None,
        gpu_temperature_c=max(temperature, default=None),
        gpu_fullest_mib=max(fullest, default=None),
    )


def _look(claim: Claim, member: Member, now: datetime) -> Look:
    """One that has ended stays as it was seen then, whatever becomes of its machine."""
    handle = Handle.from_dict(member.handle or {})
    try:
        seen = driver_named(handle.driver).observe(handle)
    except CannotSee:
        if member.ended_at is None:
            raise
        seen = _recorded(member)
    columns = seen_columns(member, seen, now)
    if member.started_at is None and seen.ran_for_s is not None:
        columns["started_at"] = max(claim.attempt.placed_at, now - timedelta(seconds=seen.ran_for_s))
    if seen.exit is not None and member.ended_at is None:
        began = columns.get("started_at", member.started_at)
        columns["ended_at"] = now if began is None else began + timedelta(seconds=seen.ran_for_s or 0.0)
        columns |= exit_columns(seen.exit)
    Member.objects.filter(pk=member.pk, attempt__fence=claim.fence).update(**columns)
    for name, value in columns.items():
        setattr(member, name, value)
    return Look(member, seen)


def _recorded(member: Member) -> Observation:
    end = Exit(member.exit_code, member.exit_signal, ExitReason(member.exit_reason), output=member.exit_detail)
    return Observation(Phase(member.phase), ran_for_s=member.ran_for_s, exit=end)


def _release(looks: Sequence[Look]) -> None:
    for look in looks:
        handle = Handle.from_dict(look.member.handle or {})
        driver = driver_named(handle.driver)
        if look.seen.phase is Phase.BARRIER and isinstance(driver, GangMixin):
            driver.release(handle)


def _stop(members: Sequence[Member], grace_s: float) -> None:
    """One that cannot be asked now is asked with the next look."""
    for member in members:
        handle = Handle.from_dict(member.handle or {})
        try:
            driver_named(handle.driver).stop(handle, grace_s)
        except DriverError as error:
            log.info("member %s could not be stopped: %s", member.pk, error)


def _values(looks: Sequence[Look], name: str) -> list[Any]:
    return [value for look in looks if (value := getattr(look.member, name)) is not None]
