"""Tags of a training run: typed at launch, shown, changed, filtered by, carried on."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.training import services
from apps.training.models import Run
from tests.builders import World, make_world, platform, signed_in
from tests.training import kit

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/training/runs/"


def tags_of(run: Run) -> list[str]:
    with acting(platform()):
        return Run.objects.get(pk=run.pk).workload.tags


def page(client: Client, name: str, *args: Any, **query: str) -> str:
    return client.get(reverse(f"training:{name}", args=args), query).content.decode()


def test_they_are_typed_at_launch_and_shown_in_the_list_and_on_the_page(world: World, alice: Client) -> None:
    answer = alice.post(reverse("training:new"), kit.form_for(world, tags="Vision, team:nlp"))
    assert answer.status_code == 302
    with acting(platform()):
        run = Run.objects.get()
    assert run.workload.tags == ["Vision", "team:nlp"]
    for html in (page(alice, "detail", run.pk), page(alice, "list")):
        assert "?tag=team%3Anlp" in html
        assert "Vision" in html
    assert 'data-value="Vision"' in page(alice, "new", blank="1")


def test_a_bad_one_is_refused_and_nothing_typed_is_lost(world: World, alice: Client) -> None:
    answer = alice.post(reverse("training:new"), kit.form_for(world, tags="vision a/b"))
    assert answer.status_code == 422
    html = answer.content.decode()
    assert 'value="vision a/b"' in html
    assert "has “/” in it" in html
    assert kit.counts()[:2] == (0, 0)


def test_they_are_changed_on_the_page_without_a_restart(world: World, alice: Client) -> None:
    run = kit.submit(world, tags=("vision",))
    url = reverse("training:tags", args=[run.pk])
    assert 'value="vision"' in alice.get(url, headers={"HX-Request": "true"}).content.decode()
    assert alice.post(url, {"tags": "nlp new"}).status_code == 302
    assert tags_of(run) == ["nlp", "new"]
    refused = alice.post(url, {"tags": "a:b:c"})
    assert refused.status_code == 422
    assert 'value="a:b:c"' in refused.content.decode()
    assert alice.post(url, {"tags": ""}).status_code == 302
    assert tags_of(run) == []


def test_nobody_else_changes_them(world: World, bob: Client, charlie: Client) -> None:
    run = kit.submit(world, tags=("vision",))
    for client in (bob, charlie):
        assert client.post(reverse("training:tags", args=[run.pk]), {"tags": "mine"}).status_code == 404
        answer = client.patch(f"{RUNS}{run.pk}/", {"tags": ["mine"]}, content_type="application/json")
        assert answer.status_code == 404
    assert tags_of(run) == ["vision"]


def test_lists_are_narrowed_by_tag(world: World, alice: Client) -> None:
    first, second = kit.submit(world, tags=("Vision",)), kit.submit(world, tags=("nlp", "vision"))
    kit.submit(world)
    for tag, found in (("VISION", {first.pk, second.pk}), ("nlp", {second.pk}), ("vis", set())):
        listed = alice.get(RUNS, {"tag": tag}).json()["results"]
        assert {row["id"] for row in listed} == {str(pk) for pk in found}
        assert len(alice.get(reverse("training:list"), {"tag": tag}).context["table"].rows) == len(found)


def test_the_interface_sets_reads_and_refuses_them(world: World, alice: Client) -> None:
    body = kit.body_for(world, tags=["Vision", "team:nlp"])
    made = alice.post(RUNS, body, content_type="application/json")
    assert (made.status_code, made.json()["tags"]) == (201, ["Vision", "team:nlp"])
    url = f"{RUNS}{made.json()['id']}/"
    for bad in (["a b"], [""], ["x" * 41], [f"t{n}" for n in range(11)], [None], "vision", None):
        answer = alice.patch(url, {"tags": bad}, content_type="application/json")
        assert answer.status_code == 400, bad
    assert alice.get(url).json()["tags"] == ["Vision", "team:nlp"]
    assert alice.patch(url, {"tags": ["b"]}, content_type="application/json").json()["tags"] == ["b"]
    assert alice.patch(url, {}, content_type="application/json").status_code == 400


def test_a_clone_and_a_rerun_carry_them(world: World, alice: Client) -> None:
    run = kit.submit(world, tags=("Vision", "b"))
    assert 'value="Vision b"' in page(alice, "new", **{"from": str(run.pk)})
    with acting(world.actor):
        again = services.rerun(world.actor, run, key="again")
    assert again.workload.tags == ["Vision", "b"]


def test_another_organisations_tags_are_never_offered(world: World, alice: Client) -> None:
    with acting(platform()):
        stranger = make_world()
    kit.submit(stranger, tags=("theirs",))
    kit.submit(world, tags=("ours",))
    html = page(alice, "new", blank="1")
    assert 'data-value="ours"' in html
    assert "theirs" not in html
    assert "theirs" in page(signed_in(stranger.alice), "new", blank="1")
