"""Charts get their new points without asking: from where the page has them, and only for who may see the run."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.common import feeds
from apps.common.live import organisation_group
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.training.views import detail
from tests.builders import World, make_member, make_world, platform
from tests.sockets import Socket, browser_of, opened
from tests.training.kit import submit

pytestmark = pytest.mark.django_db(transaction=True)
FAST_S = 0.05


class Scene:
    """A run, its owner, an administrator and a colleague; its measurements are whole seconds from 1 on."""

    def __init__(self) -> None:
        with acting(platform()):
            self.world: World = make_world()
            self.chief = make_member(self.world.organisation, "erin", Role.ADMIN)
            self.bob = make_member(self.world.organisation, "bob")
            run = submit(self.world)
        self.url = f"/training/{run.pk}/metrics/cpu/?rank=0"
        self.group = organisation_group(self.world.organisation.pk)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The newest measurement there is; the other endpoints of the chart are those of the product."""
    now = [5.0]

    def series(_workload: Any, _name: str, since: float = 0.0, _rank: int = 0) -> list[dict[str, Any]]:
        times = [at for at in range(1, int(now[0]) + 1) if at > since]
        return [{"name": "CPU", "unit": "", "limit": 1, "points": [[float(at), at / 10] for at in times]}]

    monkeypatch.setattr(detail, "series_of", series)
    monkeypatch.setattr(feeds, "interval_at", lambda url: FAST_S if interval_at(url) else None)
    return now


interval_at = feeds.interval_at


async def watching(user: Any, scene: Scene, since: float) -> Socket:
    socket = await opened(await browser_of(user), "/ws/live/")
    await socket.send_json_to({"subscribe": [scene.group], "charts": {scene.url: since}})
    assert (await socket.receive_json_from())["charts"] == [scene.url]
    return socket


async def points(socket: Socket, newest: float) -> list[float]:
    """The times that were pushed, until `newest`."""
    times: list[float] = []
    while newest not in times:
        message = await socket.receive_json_from()
        times += [at for each in message.get("series", []) for at, _value in each["points"]]
    return times


async def test_new_points_come_by_themselves_without_hole(clock: list[float]) -> None:
    scene = await sync_to_async(Scene)()
    socket = await watching(scene.world.alice, scene, since=3)
    assert await points(socket, 5.0) == [4.0, 5.0]
    clock[0] = 8
    assert await points(socket, 8.0) == [6.0, 7.0, 8.0]
    await socket.disconnect()


async def test_a_page_that_comes_back_gets_what_it_lacks_although_another_has_it(clock: list[float]) -> None:
    scene = await sync_to_async(Scene)()
    first = await watching(scene.chief, scene, since=3)
    assert await points(first, 5.0) == [4.0, 5.0]
    second = await watching(scene.chief, scene, since=1)
    assert set(await points(second, 5.0)) >= {2.0, 3.0, 4.0, 5.0}
    for socket in (first, second):
        await socket.disconnect()


async def test_those_who_see_the_same_are_read_for_once(clock: list[float]) -> None:
    scene = await sync_to_async(Scene)()
    second_chief = await sync_to_async(in_scope)(make_member, scene.world.organisation, "frank", Role.ADMIN)
    sockets = [await watching(chief, scene, since=5) for chief in (scene.chief, second_chief)]
    clock[0] = 6
    for socket in sockets:
        assert 6.0 in await points(socket, 6.0)
    assert len(feeds.feeds()._feeds) == 1
    for socket in sockets:
        await socket.disconnect()
    assert not feeds.feeds()._feeds


def in_scope(function: Any, *arguments: Any) -> Any:
    with acting(platform()):
        return function(*arguments)


async def test_a_colleague_is_pushed_nothing_of_it(clock: list[float]) -> None:
    scene = await sync_to_async(Scene)()
    socket = await watching(scene.bob, scene, since=0)
    assert await socket.receive_json_from() == {"charts": []}
    assert await socket.receive_nothing(timeout=4 * FAST_S)
    await socket.disconnect()


@pytest.mark.parametrize("charts", [{"/training/": 0}, {"//evil.example/": 0}, {"x": 0}, {"/" * 5000: 0}])
async def test_only_charts_are_pushed(charts: dict[str, float]) -> None:
    scene = await sync_to_async(Scene)()
    socket = await opened(await browser_of(scene.world.alice), "/ws/live/")
    await socket.send_json_to({"subscribe": [scene.group], "charts": charts})
    assert (await socket.receive_json_from()) == {"charts": []}
    await socket.disconnect()
