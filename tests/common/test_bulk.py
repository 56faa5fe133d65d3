"""Acts on many rows: asked about first, done row by row with each one's rights, never twice."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.clusters.choices import NodeStatus
from apps.clusters.models import Node
from apps.common.bulk import MOST
from apps.common.scoping import acting
from apps.tenants.choices import OrganisationStatus, PlatformRole, Role
from apps.tenants.models import Organisation, User
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.architecture.routes import own_routes
from tests.builders import (
    World,
    make_member,
    make_node,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    submit_workload,
)

NODES, PEOPLE, WORKLOADS = "/console/nodes/bulk/", "/console/people/bulk/", "/console/workloads/bulk/"
ONCE = re.compile(r'name="once" value="(\w+)"')
ID = re.compile(r'name="id" value="([^"]+)"')


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


@pytest.fixture
def root(world: World) -> Client:
    with acting(platform()):
        return signed_in(make_staff(name="root"))


def ask(client: Client, url: str, act: str, **posted: Any) -> Any:
    return client.post(url, {"act": act, **posted})


def confirm(client: Client, url: str, act: str, asked: Any) -> Any:
    """What the question's own button sends."""
    html = asked.content.decode()
    return client.post(url, {"act": act, "once": ONCE.findall(html)[0], "id": ID.findall(html)})


def nodes(count: int) -> list[str]:
    with acting(platform()):
        return [str(make_node(name=f"many-{number}").pk) for number in range(count)]


def cordoned() -> int:
    with acting(platform()):
        return Node.objects.filter(status=NodeStatus.CORDONED).count()


def test_it_asks_with_the_count_and_what_becomes_of_them_and_changes_nothing(root: Client) -> None:
    asked = ask(root, NODES, "cordon", id=nodes(12))
    html = asked.content.decode()
    assert "Cordon 12 nodes?" in html
    assert "What runs on them goes on" in html
    assert "and 2 more" in html
    assert cordoned() == 0


def test_confirmed_it_is_done(root: Client) -> None:
    done = confirm(root, NODES, "cordon", ask(root, NODES, "cordon", id=nodes(3)))
    assert "3 nodes take no new work." in done.content.decode()
    assert cordoned() == 3


def test_all_that_the_filter_shows_are_those_and_no_others(root: Client) -> None:
    nodes(3)
    asked = ask(root, NODES, "cordon", all="1", query="q=many-1")
    assert len(ID.findall(asked.content.decode())) == 1
    confirm(root, NODES, "cordon", asked)
    assert cordoned() == 1


def test_what_came_after_the_question_is_not_part_of_the_answer(root: Client) -> None:
    nodes(2)
    asked = ask(root, NODES, "cordon", all="1", query="q=many")
    with acting(platform()):
        make_node(name="many-later")
    confirm(root, NODES, "cordon", asked)
    assert cordoned() == 2


def test_a_double_click_does_it_once_and_answers_the_same(root: Client, world: World) -> None:
    with acting(world.actor):
        ids = [str(submit_workload(world).pk) for _each in range(2)]
    asked = ask(root, WORKLOADS, "stop", id=ids)
    first, second = (confirm(root, WORKLOADS, "stop", asked) for _press in range(2))
    assert first.content == second.content
    assert "2 workloads are asked to stop." in first.content.decode()
    assert "data-refusals" not in second.content.decode()


def test_a_confirmation_answers_for_its_own_rows_only(root: Client) -> None:
    first, second = nodes(2)
    asked = ask(root, NODES, "cordon", id=[first])
    confirm(root, NODES, "cordon", asked)
    once = ONCE.findall(asked.content.decode())[0]
    other = root.post(NODES, {"act": "cordon", "once": once, "id": [second]})
    assert other.status_code >= 400
    assert cordoned() == 1


def test_refused_rows_are_named_with_the_reason_and_stop_no_other(world: World) -> None:
    """Nobody disables themself, nor staff who may do more."""
    with acting(platform()):
        business, super_ = make_staff(PlatformRole.BUSINESS), make_staff()
        member = make_member(world.organisation, "bob")
    client = signed_in(business)
    ids = [str(each.pk) for each in (business, super_, member)]
    done = confirm(client, PEOPLE, "disable", ask(client, PEOPLE, "disable", id=ids)).content.decode()
    assert "1 account is disabled." in done
    refusals = done.split("data-refusals")[1]
    assert business.username in refusals
    assert super_.username in refusals
    assert member.username not in refusals
    with acting(platform()):
        assert list(User.objects.filter(pk__in=ids, is_active=False)) == [member]


def test_rows_of_others_are_not_there(world: World) -> None:
    with acting(world.actor):
        hers = submit_workload(world)
    with acting(platform()):
        stranger = signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))
    for url in ("/training/bulk/", "/environments/bulk/", "/data/volumes/bulk/", "/data/datasets/bulk/"):
        act = "stop" if url in ("/training/bulk/", "/environments/bulk/") else "delete"
        asked = ask(stranger, url, act, id=[str(hers.pk)])
        assert asked.status_code == 302, url
        sent = stranger.post(url, {"act": act, "once": "x" * 32, "id": [str(hers.pk)]})
        assert "is not there any more" in sent.content.decode()
    with acting(platform()):
        assert Workload.objects.get(pk=hers.pk).status == Status.QUEUED


@pytest.mark.parametrize("role", [PlatformRole.FINANCE, PlatformRole.BUSINESS])
def test_whoever_may_not_is_refused_and_offered_nothing(world: World, role: PlatformRole) -> None:
    with acting(platform()):
        client = signed_in(make_staff(role))
    (node,) = nodes(1)
    assert ask(client, NODES, "cordon", id=[node]).status_code == 403
    page = client.get("/console/packages/" if role == PlatformRole.FINANCE else "/console/organisations/")
    assert page.status_code == 200
    assert ("data-bulk" in page.content.decode()) is (len(page.context["table"].rows) > 0)


def test_bad_input_is_refused_in_words(root: Client) -> None:
    assert ask(root, NODES, "explode", id=nodes(1)).status_code == 404
    assert ask(root, NODES, "cordon", id=["nonsense"]).status_code == 404
    nothing = root.post(NODES, {"act": "cordon"}, follow=True)
    assert "Nothing is selected." in nothing.content.decode()
    assert root.get(NODES).status_code == 405


def test_more_than_one_act_may_hold_are_refused(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.common.bulk.MOST", 2)
    nodes(3)
    page = root.post(NODES, {"act": "cordon", "all": "1", "query": "q=many"}, follow=True)
    assert "more than 2 rows" in page.content.decode()
    assert cordoned() == 0
    assert MOST == 500


def test_organisations_freeze_and_thaw(root: Client, world: World) -> None:
    url, id_ = "/console/organisations/bulk/", [str(world.organisation.pk)]
    for act, status in (("freeze", OrganisationStatus.FROZEN), ("unfreeze", OrganisationStatus.ACTIVE)):
        confirm(root, url, act, ask(root, url, act, id=id_))
        with acting(platform()):
            assert Organisation.objects.get(pk=world.organisation.pk).status == status


def test_every_list_with_acts_has_its_view() -> None:
    """Each of them is swept as any other route: who may call it stands on it."""
    named = {route.name for route in own_routes() if route.name.endswith("bulk")}
    assert named >= {
        "console:organisations_bulk",
        "console:people_bulk",
        "console:workloads_bulk",
        "console:environments_bulk",
        "console:volumes_bulk",
        "console:datasets_bulk",
        "console:nodes_bulk",
        "console:packages_bulk",
        "envs:bulk",
        "training:bulk",
        "storage:volume_bulk",
        "storage:dataset_bulk",
    }
