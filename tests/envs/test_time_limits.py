"""The longest run time of environments: kept within the organisation's limit, now and at each later start."""

import pytest

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.envs.choices import KIND
from apps.envs.services import running as running_service
from apps.envs.services.changing import Change, change
from apps.workloads.time_limits import Limit, set_limits
from tests.builders import World, platform
from tests.envs import kit

pytestmark = pytest.mark.django_db
HOUR = 3600


def limit(world: World, seconds: int | None) -> None:
    with acting(platform()) as actor:
        set_limits(actor, organisation_id=world.organisation.pk, limits={KIND: Limit(seconds, own=True)})


def test_more_than_the_limit_is_refused_before_anything_is_made(world: World) -> None:
    limit(world, HOUR)
    for start in (True, False):
        with pytest.raises(Invalid, match="1 h at most"):
            kit.make(world, longest_s=2 * HOUR, start=start)
    made = kit.make(world, start=False, longest_s=HOUR)
    with acting(world.actor), pytest.raises(Invalid, match="1 h at most"):
        change(world.actor, made, Change(longest_s=2 * HOUR))


def test_a_later_start_stays_within_a_limit_that_came_after(world: World) -> None:
    made = kit.make(world, longest_s=8 * HOUR)
    assert made.workload is not None
    limit(world, HOUR)
    assert kit.again(made).workload.longest_s == 8 * HOUR  # type: ignore[union-attr]  # what waits keeps its end
    kit.stopped(made)
    with acting(world.actor):
        started = running_service.start(world.actor, kit.again(made))
    assert started.workload is not None
    assert started.workload.longest_s == HOUR
    assert kit.again(made).longest_s == 8 * HOUR  # as was set; another limit may come


def test_settings_of_what_runs_may_go_back_to_the_limit(world: World) -> None:
    limit(world, 4 * HOUR)
    made = kit.running(kit.make(world, longest_s=HOUR))
    with acting(world.actor):
        change(world.actor, made, Change(longest_s=None))
    assert kit.again(made).workload.longest_s == 4 * HOUR  # type: ignore[union-attr]
