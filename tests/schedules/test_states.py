"""The tables of transitions: what is written from where, and what changes nothing."""

import pytest

from apps.common.scoping import acting
from apps.schedules import states
from apps.schedules.choices import PauseReason, ScheduleStatus, StartStatus, Why
from apps.schedules.models import Schedule
from tests.builders import World, platform
from tests.schedules import kit

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("before", ScheduleStatus)
@pytest.mark.parametrize("after", ScheduleStatus)
def test_a_schedule_goes_where_the_table_leads(world: World, before: ScheduleStatus, after: ScheduleStatus) -> None:
    row = kit.schedule(world)
    next_at = row.next_at
    assert next_at is not None
    with acting(platform()):
        Schedule.objects.filter(pk=row.pk).update(
            status=before, next_at=next_at if before == ScheduleStatus.ACTIVE else None
        )
        moved = {
            ScheduleStatus.ACTIVE: lambda: states.activate(row, next_at),
            ScheduleStatus.PAUSED: lambda: states.pause(row, PauseReason.BY_PERSON),
            ScheduleStatus.ENDED: lambda: states.end(row),
        }[after]()
    assert moved == (before in states.SCHEDULES[after])
    found = kit.again(row)
    assert found.status == (after if moved else before)
    assert (found.next_at is not None) == (found.status == ScheduleStatus.ACTIVE)


def test_a_start_is_decided_once(world: World) -> None:
    row = kit.schedule(world)
    kit.come(row)
    (start,) = kit.starts(row)
    assert start.run is not None
    with acting(platform()):
        assert not states.skipped(start, Why.QUOTA)
        assert not states.started(start, "run", start.run.pk)
    assert kit.starts(row)[0].status == StartStatus.STARTED
    assert states.STARTS.keys() == set(StartStatus)
