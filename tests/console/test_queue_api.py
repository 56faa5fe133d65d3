"""The queue through the API: the same figures as on the pages, lists by cursor."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.clusters.models import Accelerator
from apps.common.scoping import acting
from apps.workloads.models import RecentUse, Workload
from tests.builders import World, platform
from tests.console.queue_kit import CARD, asked, guaranteed, holds, in_reach, make_card, other_world, waits

URL = "/api/v1/console/queue/"


@pytest.fixture(autouse=True)
def reach(world: World) -> None:
    in_reach()


@pytest.fixture
def cards(world: World) -> list[Accelerator]:
    return [make_card(world.node, index) for index in range(4)]


def answer(client: Client, path: str = "", **query: str) -> Any:
    response = client.get(f"{URL}{path}", query)
    assert response.status_code == 200, response.content
    return response.json()


def test_the_summary_counts_what_waits_and_what_is_given_out(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    holds(world, cards[0], waited=timedelta(minutes=2))
    waits(world, count=2)
    found = answer(ops)
    assert (found["waiting"]["tasks"], found["waiting"]["gpu_milli"]) == (1, 2000)
    assert found["waiting"]["causes"] == {"devices": 1}
    assert found["cards"]["used_milli"] == 1000
    assert found["waits"]["started"] == 1
    assert found["waits"]["p50_s"] == pytest.approx(120, abs=5)
    assert found["last_pass"]["milliseconds"] == 38


def test_fairness_gives_guarantee_held_and_deserved(ops: Client, world: World, cards: list[Accelerator]) -> None:
    guaranteed(world.organisation, 2000)
    holds(world, cards[0])
    [share] = answer(ops, "fairness/")
    assert share["organisation"] == world.organisation.name
    assert (share["guaranteed_milli"], share["held_milli"], share["unused_milli"]) == (2000, 1000, 1000)


def test_fairness_tells_what_was_used_lately_with_and_without_cards(ops: Client, world: World) -> None:
    with acting(platform()):
        hour = 3600 * 1000
        used = {"gpu_milli_s": 3 * hour, "cpu_milli_s": 40 * hour, "simulated_cpu_milli_s": 7 * hour}
        RecentUse.objects.create(organisation=world.organisation, **used)
    [share] = answer(ops, "fairness/")
    recent = share["recent_card_hours"], share["recent_core_hours"]
    assert recent == (pytest.approx(3, rel=1e-3), pytest.approx(40, rel=1e-3))


def test_what_waits_comes_by_cursor_once_and_all(ops: Client, world: World, cards: list[Accelerator]) -> None:
    names = [waits(world, f"run {number}", position=9 - number).name for number in range(5)]
    page = answer(ops, "waiting/", page_size="2")
    found = [*page["results"]]
    while page["next"]:
        page = ops.get(page["next"]).json()
        found += page["results"]
    assert [row["name"] for row in found] == names
    assert (found[0]["position"], found[0]["gpu_count"], found[0]["gpu_model"]) == (9, 1, CARD)
    assert found[0]["cause"] == "devices"


def test_reservations_name_the_nodes_and_the_start(ops: Client, world: World, cards: list[Accelerator]) -> None:
    start = timezone.now() + timedelta(hours=1)
    workload = waits(world, start_p50=start.timestamp(), start_p90=start.timestamp())
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(promised_nodes=[str(world.node.pk)], promised_at=timezone.now())
    [kept] = answer(ops, "reservations/")
    assert (kept["id"], kept["node_ids"]) == (str(workload.pk), [str(world.node.pk)])
    assert kept["start_p50"].startswith(timezone.localtime(start).strftime("%Y-%m-%dT%H:%M"))


def test_fragments_come_by_model(ops: Client, world: World, cards: list[Accelerator]) -> None:
    holds(world, cards[0])
    [line] = answer(ops, "fragments/")
    assert (line["model"], line["cards"], line["used_milli"], line["whole_cards_on_one_node"]) == (CARD, 4, 1000, 3)
    assert (line["offered"], line["largest_package_id"]) == (False, None)


def test_preemptions_name_both_sides(ops: Client, world: World, cards: list[Accelerator]) -> None:
    victim, gainer = holds(world, cards[0]), waits(other_world(), "in need")
    asked(victim, gainer)
    [row] = answer(ops, "preemptions/")["results"]
    assert (row["workload_id"], row["for_workload"], row["outcome"]) == (str(victim.pk), "in need", "asked")
    assert row["organisation"]["name"] == world.organisation.name
    with acting(platform()):
        Workload.objects.filter(pk=gainer.pk).update(name="renamed")
    assert answer(ops, "preemptions/")["results"][0]["for_workload"] == "renamed"


def test_the_score_of_estimates_is_there_without_any(ops: Client, world: World) -> None:
    assert answer(ops, "estimates/")["whole"] == {
        "starts": 0, "before_p50": 0.0, "p50_to_p90": 0.0, "after_p90": 0.0, "median_error_s": None,
    }  # fmt: skip


@pytest.mark.parametrize("query", [{"world": "third"}, {"model": "no such card"}, {"unknown": "1"}])
def test_a_slip_in_the_query_is_told(ops: Client, world: World, query: dict[str, str]) -> None:
    assert ops.get(f"{URL}waiting/", query).status_code == 400


@pytest.mark.parametrize("path", ["", "fairness/", "waiting/", "reservations/", "fragments/", "preemptions/"])
def test_members_of_organisations_and_finance_staff_see_nothing(
    alice: Client, finance: Client, world: World, path: str
) -> None:
    assert alice.get(f"{URL}{path}").status_code in (403, 404)
    assert finance.get(f"{URL}{path}").status_code == 403
