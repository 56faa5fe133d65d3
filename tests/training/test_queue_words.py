"""What a waiting run is told of the cards that must fall free."""

from typing import Any

from django.test import Client

from apps.common.scoping import acting
from apps.training.models import Run
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.training.kit import submit, text, url

SENTENCE = (
    "3 are ahead for the same cards. Together with this one they need 4, of which 0 are free: "
    "at least 4 must become free first."
)


def waiting(world: World, **changes: Any) -> Run:
    run = submit(world)
    said = {"cause": "devices", "ahead": {"tasks": 3, "cards": 4, "free": 0}} | changes
    with acting(platform()):
        Workload.objects.filter(pk=run.workload_id).update(explanation=said)
    return run


def test_the_page_the_list_and_the_api_say_how_many(world: World, alice: Client) -> None:
    run = waiting(world)
    assert SENTENCE in text(alice.get(url("detail", run)))
    assert f'title="{SENTENCE}"' in text(alice.get("/training/"))
    wait = alice.get(f"/api/v1/training/runs/{run.pk}/").json()["wait"]
    assert wait["ahead"] == {"tasks": 3, "cards": 4, "free": 0, "short": 4}


def test_nothing_is_said_where_nobody_is_ahead_or_enough_is_free(world: World, alice: Client) -> None:
    for ahead in (None, {"tasks": 0, "cards": 1, "free": 0}, {"tasks": 2, "cards": 3, "free": 3}):
        run = waiting(world, ahead=ahead)
        assert "must fall free" not in text(alice.get(url("detail", run)))


def test_an_explanation_of_before_there_was_the_number_is_read(world: World, alice: Client) -> None:
    run = submit(world)
    with acting(platform()):
        Workload.objects.filter(pk=run.workload_id).update(explanation={"cause": "devices"})
    assert alice.get(f"/api/v1/training/runs/{run.pk}/").json()["wait"]["ahead"] is None
