"""The list of runs is drawn once for all who see the same and pushed: it is what a reload would show."""

import json
import re
import zlib
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from apps.common import pushed
from apps.common.live import organisation_group, recheck_rights_on_commit
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from apps.tenants.services.account import choose_organisation
from apps.training.models import Run
from apps.workloads import services as workloads
from tests.builders import World, actor_of, make_member, make_world, platform, signed_in
from tests.sockets import Socket, opened
from tests.training.kit import submit

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/training/"
CHANGING = re.compile(r'data-live-last="\d*"|csrfmiddlewaretoken" value="[^"]*"|data-elapsed="[^"]*"[^>]*>[^<]*')


class Scene:
    """Alice and Bob submit, two administrators see both."""

    def __init__(self) -> None:
        with acting(platform()):
            self.world: World = make_world()
            self.bob = make_member(self.world.organisation, "bob")
            self.chiefs = [make_member(self.world.organisation, name, Role.ADMIN) for name in ("erin", "frank")]
            self.run = submit(self.world)
        self.group = organisation_group(self.world.organisation.pk)


async def watching(client: Client, scene: Scene, url: str = LIST) -> Socket:
    socket = await opened(client, "/ws/live/")
    await socket.send_json_to({"subscribe": [scene.group], "lists": {"runs": url}})
    assert (await socket.receive_json_from())["lists"] == ["runs"]
    return socket


async def next_list(socket: Socket, enough: Any = bool) -> str:
    """The HTML of the first pushed list that is `enough`."""
    while True:
        frame = await socket.receive_output()
        if not frame.get("bytes"):
            continue
        head, _, html = zlib.decompress(frame["bytes"], -15).decode().partition("\n")
        assert json.loads(head)["list"] == "runs"
        if enough(html):
            return html


def rows(html: str) -> str:
    """What of a page is the list, but for what differs each time that it is drawn."""
    found = re.search(r'<div id="runs".*</div>\s*</section>', html, re.DOTALL)
    counts = re.search(r'id="run-counts">[^<]*', html)
    assert found is not None
    assert counts is not None
    return CHANGING.sub("", counts[0] + found[0])


def reloaded(client: Client, url: str = LIST) -> str:
    return rows(client.get(url).content.decode())


async def test_a_submission_is_pushed_to_all_and_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = await sync_to_async(Scene)()
    clients = [await sync_to_async(signed_in)(chief) for chief in scene.chiefs]
    monkeypatch.setattr(pushed, "EVERY_S", 3600)
    drawn, draw = [], pushed.rendered
    monkeypatch.setattr(pushed, "rendered", lambda scope, url: drawn.append(url) or draw(scope, url))  # type: ignore[func-returns-value]
    sockets = [await watching(client, scene) for client in clients]
    run = await sync_to_async(submit)(scene.world, name="brand new")
    for socket, client in zip(sockets, clients, strict=True):
        html = await next_list(socket)
        assert str(run.pk) in html
        assert rows(html) == await sync_to_async(reloaded)(client)
        assert "pl-top" not in html  # the frame names the person
        assert not re.search(r'csrfmiddlewaretoken" value="[^"]', html)
    assert drawn == [LIST]
    for socket in sockets:
        await socket.disconnect()


@pytest.mark.parametrize("url", [LIST, "/training/?status=queued", "/training/?sort=status&mine=on"])
async def test_after_any_changes_the_last_list_is_what_a_reload_shows(url: str) -> None:
    scene = await sync_to_async(Scene)()
    client = await sync_to_async(signed_in)(scene.chiefs[0])
    socket = await watching(client, scene, url)

    def changes() -> str:
        more = [submit(scene.world, name=f"run {number}") for number in range(3)]
        with acting(platform()):
            for run in (scene.run, more[1]):
                workloads.stop(platform(), run.workload)
        return reloaded(client, url)

    wanted = await sync_to_async(changes)()
    await next_list(socket, lambda html: rows(html) == wanted)
    await socket.disconnect()


async def test_members_are_pushed_their_own_runs_alone() -> None:
    scene = await sync_to_async(Scene)()
    client = await sync_to_async(signed_in)(scene.bob)
    socket = await watching(client, scene)
    await sync_to_async(submit)(scene.world, name="alices")
    [event] = (await socket.receive_json_from())["events"]
    assert event["kind"] == "other"
    own = await sync_to_async(bobs)(scene)
    html = await next_list(socket)
    assert str(own.pk) in html
    assert str(scene.run.pk) not in html
    assert "alices" not in html
    await socket.disconnect()


def bobs(scene: Scene) -> Run:
    return submit(scene.world, actor_of(scene.bob, scene.world.organisation), name="bobs")


async def test_with_another_role_the_list_becomes_another() -> None:
    scene = await sync_to_async(Scene)()
    chief = scene.chiefs[0]
    client = await sync_to_async(signed_in)(chief)
    socket = await watching(client, scene)

    def demoted() -> None:
        with acting(platform()):
            Membership.objects.filter(user=chief).update(role=Role.MEMBER)
        recheck_rights_on_commit(chief.pk)
        submit(scene.world, name="not for a member")

    await sync_to_async(demoted)()
    html = await next_list(socket)
    assert "not for a member" not in html
    assert str(scene.run.pk) not in html
    await socket.disconnect()


async def test_who_works_in_another_organisation_meanwhile_draws_nothing_for_the_former_colleagues() -> None:
    """What a browser fetches is of the organisation that its person works in now; an open page stays where it began."""
    scene = await sync_to_async(Scene)()
    erin, frank = scene.chiefs

    def switched() -> World:
        with acting(platform()):
            elsewhere = make_world()
            Membership.objects.create(user=erin, organisation=elsewhere.organisation, role=Role.ADMIN)
        choose_organisation(actor_of(erin, scene.world.organisation), organisation_id=elsewhere.organisation.pk)
        submit(elsewhere, name="of another organisation")
        return elsewhere

    hers = await watching(await sync_to_async(signed_in)(erin), scene)
    await sync_to_async(switched)()
    await sync_to_async(submit)(scene.world, name="brand new")
    heard: dict[str, Any] = {}
    while "lists" not in heard:  # she alone is there to draw it
        frame = await hers.receive_output()
        assert not frame.get("bytes")
        heard = json.loads(frame["text"])
    assert heard["lists"] == []
    his = await watching(await sync_to_async(signed_in)(frank), scene)
    run = await sync_to_async(submit)(scene.world, name="newer")
    html = await next_list(his)
    assert str(run.pk) in html
    assert "of another organisation" not in html
    for socket in (hers, his):
        await socket.disconnect()


async def test_the_list_goes_on_when_the_first_who_watched_it_has_left() -> None:
    """What draws it belongs to none of its pages."""
    scene = await sync_to_async(Scene)()
    first, other = [await watching(await sync_to_async(signed_in)(chief), scene) for chief in scene.chiefs]
    await first.disconnect()
    run = await sync_to_async(submit)(scene.world, name="brand new")
    assert str(run.pk) in await next_list(other)
    await other.disconnect()


async def test_whoever_was_away_is_sent_what_there_is_now() -> None:
    scene = await sync_to_async(Scene)()
    client = await sync_to_async(signed_in)(scene.chiefs[0])
    socket = await watching(client, scene)
    await socket.disconnect()
    run = await sync_to_async(submit)(scene.world, name="meanwhile")
    again = await opened(client, "/ws/live/")
    await again.send_json_to({"subscribe": [scene.group], "lists": {"runs": LIST}, "stale": True})
    assert str(run.pk) in await next_list(again)
    await again.disconnect()


@pytest.mark.parametrize("url", ["/training/new/", "/console/", "//evil.example/training/", "x", 3, None, "/" * 5000])
async def test_only_lists_are_pushed(url: Any) -> None:
    scene = await sync_to_async(Scene)()
    socket = await opened(await sync_to_async(signed_in)(scene.chiefs[0]), "/ws/live/")
    await socket.send_json_to({"subscribe": [scene.group], "lists": {"runs": url}})
    assert (await socket.receive_json_from())["lists"] == []
    await socket.disconnect()
