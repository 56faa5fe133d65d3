"""Tags of an environment: its own, and those of the start that runs."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.envs.services import running
from tests.builders import World, platform
from tests.envs import kit

pytestmark = pytest.mark.django_db
ENVIRONMENTS = "/api/v1/environments/"


def test_they_are_typed_at_the_making_and_carried_by_every_start(world: World, alice: Client) -> None:
    answer = alice.post(reverse("envs:new"), kit.form_for(world, tags="Vision team:nlp"))
    assert answer.status_code == 302
    env = alice.get(answer.headers["Location"]).context["env"]
    assert (env.tags, env.workload.tags) == (["Vision", "team:nlp"],) * 2
    kit.stopped(env)
    with acting(world.actor):
        again = running.start(world.actor, kit.again(env))
    assert again.starts == 2
    assert again.workload is not None
    assert again.workload.tag_keys == ["vision", "team:nlp"]
    for html in (
        alice.get(answer.headers["Location"]).content.decode(),
        alice.get(reverse("envs:list")).content.decode(),
    ):
        assert "?tag=team%3Anlp" in html


def test_a_change_needs_no_restart_and_is_logged(world: World, alice: Client) -> None:
    env = kit.running(kit.make(world, tags=("old",)))
    posted = kit.form_for(world, tags="new")
    assert alice.post(reverse("envs:change", args=[env.pk]), posted).status_code == 302
    env = kit.again(env)
    assert env.workload is not None
    assert (env.tags, env.workload.tags, env.starts) == (["new"], ["new"], 1)
    with acting(platform()):
        entry = Entry.objects.get(action="environment.changed", target_id=str(env.pk))
    assert (entry.before["tags"], entry.after["tags"]) == (["old"], ["new"])
    assert "tag_keys" not in entry.after


def test_a_bad_one_is_refused_and_nothing_typed_is_lost(world: World, alice: Client) -> None:
    for url in (reverse("envs:new"), reverse("envs:change", args=[kit.make(world, tags=("old",)).pk])):
        answer = alice.post(url, kit.form_for(world, tags="a/b fine"))
        assert answer.status_code == 422
        assert 'value="a/b fine"' in answer.content.decode()


def test_the_interface_sets_reads_filters_and_refuses_them(world: World, alice: Client) -> None:
    body = {"name": "lab", "image": str(world.image.pk), "package": world.package.pk, "tags": ["A"], "start": False}
    made = alice.post(ENVIRONMENTS, body, content_type="application/json").json()
    assert made["tags"] == ["A"]
    url = f"{ENVIRONMENTS}{made['id']}/"
    assert alice.patch(url, {"tags": ["a b"]}, content_type="application/json").status_code == 400
    assert alice.patch(url, {"tags": ["b", "B"]}, content_type="application/json").json()["tags"] == ["b"]
    assert alice.patch(url, {"note": "n"}, content_type="application/json").json()["tags"] == ["b"]
    assert [row["id"] for row in alice.get(ENVIRONMENTS, {"tag": "B"}).json()["results"]] == [made["id"]]
    assert alice.get(ENVIRONMENTS, {"tag": "a"}).json()["results"] == []


def test_another_organisation_sees_none_of_them(world: World, charlie: Client) -> None:
    kit.make(world, tags=("theirs",))
    assert "theirs" not in charlie.get(reverse("envs:new")).content.decode()
    assert charlie.get(ENVIRONMENTS, {"tag": "theirs"}).json()["results"] == []
