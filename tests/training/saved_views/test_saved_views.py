"""Views saved under a name: what they keep, who finds and changes them, and what they show to others."""

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.training.models import Run, SavedView
from apps.training.personal_data import DATA
from apps.training.saved_views.services import LONGEST_QUERY
from tests.builders import World, make_member, make_organisation, platform, signed_in
from tests.training.kit import submit, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(world: World) -> tuple[Run, Run]:
    return submit(world, name="one"), submit(world, name="two")


def saved(client: Client, status: int = 201, **changes: Any) -> Any:
    body = {"subject": "list", "name": "Best", "query": "?column=metric%3Aloss&sort=-metric%3Aloss&page=3", **changes}
    answer = client.post(reverse("api-training-views"), body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def of(*runs: Run, **more: str) -> str:
    return urlencode([*(("run", str(run.pk)) for run in runs), *more.items()])


def count() -> int:
    with acting(platform()):
        return SavedView.objects.count()


def test_a_view_of_the_list_opens_the_address_that_it_keeps(alice: Client) -> None:
    row = saved(alice, name="  Best   runs ")
    assert row["name"] == "Best runs"
    answer = alice.get(row["address"])
    asked = parse_qs(urlsplit(answer["Location"]).query)
    assert asked == {"column": ["metric:loss"], "sort": ["-metric:loss"], "view": [row["id"]]}
    assert "Best runs" in text(alice.get(answer["Location"]))
    with acting(platform()):
        assert Entry.objects.filter(action="view.saved", target_id=row["id"]).exists()


def test_the_same_name_replaces_ones_own_view_alone(alice: Client, bob: Client) -> None:
    first, again = saved(alice), saved(alice, query="q=two")
    assert (first["id"], again["query"]) == (again["id"], "q=two")
    assert saved(bob)["id"] != first["id"]
    assert count() == 2


def test_others_find_it_once_it_is_shared_and_cannot_change_it(alice: Client, bob: Client) -> None:
    row = saved(alice)
    detail = reverse("api-training-view", args=[row["id"]])
    assert bob.get(detail).status_code == 404
    assert bob.get(row["address"]).status_code == 404
    alice.patch(detail, {"shared": True}, content_type="application/json")
    assert bob.get(detail).json()["shared"] is True
    for answer in (bob.delete(detail), bob.patch(detail, {"name": "mine"}, content_type="application/json")):
        assert answer.status_code == 404
    assert count() == 1
    shared = reverse("api-training-views")
    assert [each["id"] for each in bob.get(shared, {"of": "organisation"}).json()["results"]] == [row["id"]]
    assert bob.get(shared, {"of": "mine"}).json()["results"] == []


def test_another_organisation_does_not_find_even_a_shared_one(alice: Client) -> None:
    row = saved(alice, shared=True)
    with acting(platform()):
        stranger = signed_in(make_member(make_organisation(), "stranger"))
    assert stranger.get(reverse("api-training-view", args=[row["id"]])).status_code == 404
    assert stranger.get(reverse("api-training-views")).json()["results"] == []


def test_a_comparison_is_kept_with_how_it_is_shown(alice: Client, pair: tuple[Run, Run]) -> None:
    query = of(*pair, smooth="0.6", log="1", **{"parallel-brush": '{"metric:loss":[0,1]}'})
    row = saved(alice, subject="comparison", query=query)
    opened = alice.get(alice.get(row["address"])["Location"])
    assert opened.status_code == 200
    assert parse_qs(row["query"])["parallel-brush"] == ['{"metric:loss":[0,1]}']
    assert "Best" in text(opened)


@pytest.mark.parametrize("query", ["", "run=x", f"run={UUID(int=1)}&run={UUID(int=2)}", "q=" + "x" * LONGEST_QUERY])
def test_a_comparison_of_nothing_is_refused_beside_its_field(alice: Client, query: str) -> None:
    assert "query" in saved(alice, 400, subject="comparison", query=query)["fields"]
    assert count() == 0


def test_a_colleague_sees_of_a_shared_comparison_only_their_own_runs(
    alice: Client, bob: Client, pair: tuple[Run, Run]
) -> None:
    row = saved(alice, subject="comparison", query=of(*pair), shared=True)
    answer = bob.get(row["address"], follow=True)
    assert "Fewer than two runs of this view are left" in text(answer)
    assert "one" not in answer.redirect_chain[0][0]


def test_runs_that_are_gone_are_said(world: World, alice: Client, pair: tuple[Run, Run]) -> None:
    third = submit(world, name="three")
    row = saved(alice, subject="comparison", query=of(*pair, third))
    with acting(platform()):
        Run.objects.filter(pk=third.pk).update(deleted_at="2026-01-01T00:00Z")
    answer = alice.get(row["address"], follow=True)
    assert str(third.pk) not in answer.redirect_chain[0][0]
    assert "1 run of this view is not shown" in text(answer)


def test_a_name_is_taken_once_and_needed(alice: Client) -> None:
    saved(alice, name="Other")
    detail = reverse("api-training-view", args=[saved(alice)["id"]])
    for name in ("Other", "  "):
        answer = alice.patch(detail, {"name": name}, content_type="application/json")
        assert answer.status_code == 400
        assert "name" in answer.json()["fields"]
    assert alice.get(detail).json()["name"] == "Best"


def test_a_deleted_account_leaves_what_it_shared_and_nothing_else(world: World, alice: Client, bob: Client) -> None:
    shared, others = saved(alice, name="Ours", shared=True), saved(bob)
    saved(alice, name="Mine")
    with acting(platform()) as actor:
        DATA.erase(actor, world.alice)
        assert {str(row.pk) for row in SavedView.objects.all()} == {shared["id"], others["id"]}


def test_nobody_keeps_more_than_the_most(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.training.saved_views.services.MOST", 1)
    saved(alice)
    saved(alice)  # replaced, so no more
    saved(alice, 409, name="Another")
    assert count() == 1


def test_pages_save_from_where_one_stands_list_change_and_delete(alice: Client, pair: tuple[Run, Run]) -> None:
    page = f"http://testserver{reverse('training:compare')}?{of(*pair, smooth='0.5')}"
    dialog = text(
        alice.get(
            f"{reverse('training:save_view')}?subject=comparison",
            headers={"HX-Request": "true", "HX-Current-URL": page},
        )
    )
    assert "smooth%3D0.5" in dialog
    save = f"{reverse('training:save_view')}?{urlencode({'subject': 'comparison', 'query': of(*pair, smooth='0.5')})}"
    assert alice.post(save, {"name": ""}).status_code == 422
    assert "smooth=0.5" in alice.post(save, {"name": "Mine"})["Location"]
    with acting(platform()):
        row = SavedView.objects.get()
    assert "Mine" in text(alice.get(reverse("training:views"), {"of": "mine", "q": "min"}))
    alice.post(reverse("training:edit_view", args=[row.pk]), {"name": "Ours", "shared": "on"})
    assert "Ours" in text(alice.get(reverse("training:views"), {"of": "organisation"}))
    alice.post(reverse("training:delete_view", args=[row.pk]))
    assert "No saved views yet" in text(alice.get(reverse("training:views")))
    assert alice.post(f"{reverse('training:save_view')}?subject=else", {"name": "x"}).status_code == 404
