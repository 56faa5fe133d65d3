"""The queue's pages: who waits for what, who deserves how much, what is kept, what of the cards nobody can use."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.clusters.models import Accelerator, Zone
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from apps.workloads.models import SchedulerEpoch
from tests.builders import World, make_node, platform
from tests.console.kit import page, text_of
from tests.console.queue_kit import CARD, guaranteed, holds, in_reach, make_card, other_world, passed, waits


@pytest.fixture(autouse=True)
def reach(world: World) -> None:
    in_reach()


@pytest.fixture
def cards(world: World) -> list[Accelerator]:
    """Four whole cards of one machine."""
    return [make_card(world.node, index) for index in range(4)]


def shown(client: Client, part: str, **query: str) -> Any:
    response = client.get(page("queue_part", part), query)
    assert response.status_code == 200
    return response.context["part"]


def test_an_installation_without_cards_has_a_page_that_says_what_will_stand_there(ops: Client) -> None:
    text = text_of(ops.get(page("queue")))
    assert "Nothing waits" in text
    assert "There is no card" in text
    assert "No scheduling pass has run yet" in text


def test_the_strip_counts_tasks_cards_and_causes(ops: Client, world: World, cards: list[Accelerator]) -> None:
    waits(world, count=4)
    waits(world, count=2)
    waits(world, cause="quota")
    first = shown(ops, "head")["strip"][0]
    assert first["value"] == "3"
    assert "7 cards" in first["unit"]
    assert first["sub"] == "cards short 2 · quota used up 1"


def test_waits_of_the_last_day_give_the_percentiles(ops: Client, world: World, cards: list[Accelerator]) -> None:
    for card, minutes in zip(cards, (10, 20, 30, 60), strict=True):
        holds(world, card, waited=timedelta(minutes=minutes))
    waited = shown(ops, "head")["strip"][1]
    assert waited["value"] == "51 min"
    assert "half of 4 started within 25 min" in waited["sub"]


def test_what_is_held_and_out_of_reach_makes_the_rate_of_allocation(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    holds(world, cards[0], cards[1])
    Accelerator.objects.filter(pk=cards[3].pk).update(healthy=False)
    given = shown(ops, "head")["strip"][2]
    assert given["value"] == "66.7%"
    assert given["unit"] == "2 of 3 cards"
    assert "1 card out of reach" in given["sub"]


def test_a_fair_share_is_the_guarantee_first_and_the_rest_by_weight(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    greedy = other_world()
    guaranteed(world.organisation, 3000)
    holds(greedy, *cards)
    waits(world, count=3)
    shares = {share.organisation_id: share for share in shown(ops, "fairness")["page"].object_list}
    mine, theirs = shares[world.organisation.pk], shares[greedy.organisation.pk]
    assert (mine.guaranteed, mine.held, mine.deserved, mine.short) == (3000, 0, 3000, 3000)
    assert (theirs.held, theirs.deserved, theirs.borrowed) == (4000, 1000, 3000)
    assert "borrows 3" in text_of(ops.get(page("queue_part", "fairness")))


def test_a_guarantee_that_nobody_asks_for_is_unused(ops: Client, world: World, cards: list[Accelerator]) -> None:
    guaranteed(world.organisation, 2000, CARD)
    passed()
    [share] = shown(ops, "fairness")["page"].object_list
    assert (share.deserved, share.lent) == (0, 2000)
    assert shown(ops, "fairness", model="no such card")["focus"].model == ""


def test_weights_divide_what_no_guarantee_covers(ops: Client, world: World, cards: list[Accelerator]) -> None:
    other = other_world()
    with acting(platform()):
        Organisation.objects.filter(pk=other.organisation.pk).update(weight=3)
    waits(world, count=4)
    waits(other, count=4)
    shares = {share.organisation_id: share.deserved for share in shown(ops, "fairness")["page"].object_list}
    assert shares == {world.organisation.pk: 1000, other.organisation.pk: 3000}


def test_the_queue_stands_in_the_order_of_turns_with_the_unseen_last(
    business: Client, ops: Client, world: World, cards: list[Accelerator]
) -> None:
    waits(world, "third", position=3)
    waits(world, "unseen", position=None)
    waits(world, "first", position=1)
    rows = shown(ops, "waiting")["table"].rows
    assert [row.record.workload.name for row in rows] == ["first", "third", "unseen"]
    assert business.get(page("queue_part", "waiting")).status_code == 403


def test_the_queue_says_what_a_task_is_short_of_where(ops: Client, world: World, cards: list[Accelerator]) -> None:
    near = {"node_id": str(world.node.pk), "nodes": 1, "devices": 1}
    when = timezone.now() + timedelta(hours=1)
    waits(world, count=4, nearest=near, start_p50=when.timestamp(), start_p90=when.timestamp() + 600)
    text = text_of(ops.get(page("queue_part", "waiting")))
    assert world.node.name in text
    assert "4 × H200" in text
    assert world.organisation.name in text
    assert timezone.localtime(when).strftime("%H:%M") in text


def test_the_queue_is_searched_by_workload_and_organisation(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    other = other_world()
    waits(world, "vision")
    waits(other, "speech")
    for words, names in (
        ("vis", ["vision"]),
        (other.organisation.name, ["speech"]),
        ("nothing such", []),
    ):
        found = shown(ops, "waiting", q=words)
        assert [row.record.workload.name for row in found["table"].rows] == names


def test_a_model_narrows_every_part(ops: Client, world: World, cards: list[Accelerator]) -> None:
    make_card(world.node, 4, "A30")
    waits(world, "for H200")
    assert shown(ops, "head", model="A30")["strip"][0]["value"] == "0"
    assert [line.use.model for line in shown(ops, "fragments", model="A30")["lines"]] == ["A30"]
    assert not shown(ops, "waiting", model="A30")["page"].object_list
    assert shown(ops, "waiting", model=CARD)["page"].object_list


def test_simulated_cards_and_work_are_a_world_apart(ops: Client, world: World, cards: list[Accelerator]) -> None:
    holds(world, cards[0])
    Zone.objects.filter(pk=world.node.cluster.zone_id).update(simulated=True)
    passed()
    assert shown(ops, "head")["strip"][2]["unit"] == "0 of 0 cards"
    assert shown(ops, "head", world="simulated")["strip"][2]["unit"] == "1 of 4 cards"
    assert "Simulated" in text_of(ops.get(page("queue"), {"world": "simulated"}))


def test_a_long_queue_comes_part_by_part(ops: Client, world: World, cards: list[Accelerator]) -> None:
    waits(world, "somebody's run")
    SchedulerEpoch.objects.update(waiting=100_000)
    text = text_of(ops.get(page("queue")))
    assert "somebody&#x27;s run" not in text
    assert text.count("load, every 20s") == 5
    assert ops.get(page("queue_part", "no-such-part")).status_code == 404


def queries(client: Client, url: str) -> int:
    client.get(url)
    passed()
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def test_more_of_everything_costs_no_more_queries(root: Client, world: World) -> None:
    names = ("queue", "queue_cards", "queue_preemptions", "queue_estimates")

    def more() -> None:
        with acting(platform()):
            node = make_node()
        for index in range(2):
            holds(world, make_card(node, index))
        waits(world, nearest={"node_id": str(node.pk), "nodes": 1, "devices": 1})
        waits(other_world(), nearest={"node_id": str(world.node.pk), "nodes": 1, "devices": 1})

    more()
    few = {name: queries(root, page(name)) for name in names}
    more()
    more()
    assert {name: count for name in names if (count := queries(root, page(name))) > few[name]} == {}
    assert {name: count for name, count in few.items() if count > 64} == {}
