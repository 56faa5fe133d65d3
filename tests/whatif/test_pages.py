"""What-if in the browser: who may see it, who may run it, and what is said to a form that cannot be."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from apps.whatif.choices import ScenarioStatus
from apps.whatif.models import Scenario
from tests.builders import World, make_staff, platform, signed_in
from tests.whatif.test_scenarios import ask, worked

NEW = "/console/what-if/new/"


def staff(role: PlatformRole) -> Client:
    with acting(platform()):
        return signed_in(make_staff(role))


@pytest.fixture
def ops(world: World) -> Client:
    return staff(PlatformRole.OPS)


def filled(*rows: dict[str, str], **fields: str) -> dict[str, Any]:
    """The form of a scenario of the sample's first day."""
    data: dict[str, Any] = {
        "source": "sample",
        "hardware": "simulated",
        "name": "Later turns",
        "start": "2026-11-02T08:00",
        "end": "2026-11-03T08:00",
        "change": [],
        **fields,
    }
    for number, row in enumerate(rows):
        prefix = f"{row['kind']}-{number}"
        data["change"].append(prefix)
        data |= {f"{prefix}-{name}": value for name, value in row.items() if name != "kind"}
    return data


def text_of(response: Any) -> str:
    return str(response.content.decode())


def test_an_empty_list_says_what_the_page_is_for_and_how_to_begin(ops: Client) -> None:
    text = text_of(ops.get(reverse("whatif:list")))
    assert "No scenario yet" in text
    assert "run too little so far" in text
    assert f"{NEW}?source=sample" in text


def test_a_scenario_is_asked_for_and_queued(ops: Client, world: World) -> None:
    assert ops.get(f"{NEW}?source=sample").status_code == 200
    response = ops.post(NEW, filled({"kind": "min_runtime", "minutes": "30"}))
    scenario = Scenario.objects.get()
    assert response.headers["Location"] == reverse("whatif:scenario", args=[scenario.pk])
    assert scenario.changes == [{"kind": "min_runtime", "value": 1800, "was": 600}]
    page = text_of(ops.get(response.headers["Location"]))
    assert "Waiting" in page
    assert "Minimum run 10 min → 30 min" in page
    with acting(platform()):
        assert Entry.objects.filter(action="whatif.started", target_id=str(scenario.pk)).count() == 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"kind": "guarantee", "organisation": "Nobody", "cards": "4"}, "There is no organisation with this name."),
        ({"kind": "guarantee", "organisation": "Speech group", "cards": "-1"}, "Give a number from 0"),
        ({"kind": "guarantee", "organisation": "Speech group", "cards": "lots"}, "Give a number from 0"),
        ({"kind": "guarantee", "organisation": "Speech group", "cards": "4", "gpu_model": "H999"}, "H999"),
        ({"kind": "weight", "organisation": "Speech group", "weight": "1.5"}, "Give a whole number."),
        ({"kind": "priority", "user": "speech-1", "priority": "6"}, "Give a number from 1 to 5."),
        ({"kind": "mode", "node": "sim-a100", "mode": "mig", "which": "6-9"}, "This node has cards 0 to 7."),
        ({"kind": "mode", "node": "sim-a100", "mode": "mig", "which": "a"}, "Name cards by their numbers"),
        ({"kind": "mode", "node": "sim-910b", "mode": "mig", "which": ""}, "Not all of these cards can be cut by MIG."),
        ({"kind": "mode", "node": "sim-a100", "mode": "mig", "layout": "3g.40gb×3"}, "do not fit on one card"),
        ({"kind": "mode", "node": "sim-a100", "mode": "mig", "layout": "9g.1gb"}, "knows no partition 9g.1gb"),
        ({"kind": "node_add", "node": "sim-a100", "count": "0"}, "Give a number from 1 to 200."),
        ({"kind": "node_remove", "node": "none"}, "There is no node with this name."),
    ],
)
def test_a_change_that_cannot_be_is_told_beside_its_field_and_nothing_starts(
    ops: Client, row: dict[str, str], words: str
) -> None:
    response = ops.post(NEW, filled(row))
    assert response.status_code == 422
    assert words in text_of(response)
    assert not Scenario.objects.exists()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"end": "2026-11-02T07:00"}, "The end must be after the start."),
        ({"end": "2027-11-02T07:00"}, "A span has at most 31 days."),
        ({"start": "2025-01-01T00:00", "end": "2025-01-02T00:00"}, "Nothing waited or ran in this span"),
        ({"start": "soon"}, "Enter a valid date/time."),
        ({"name": ""}, "This field is required."),
        ({"source": "history", "hardware": "simulated", "end": "2026-11-02T07:59"}, "The end must"),
    ],
)
def test_a_span_that_cannot_be_is_told(ops: Client, fields: dict[str, str], words: str) -> None:
    response = ops.post(NEW, filled({"kind": "min_runtime", "minutes": "30"}, **fields))
    assert response.status_code == 422
    assert words in text_of(response) or "There is no node" in text_of(response)
    assert not Scenario.objects.exists()


def test_without_a_change_or_with_the_same_twice_nothing_starts(ops: Client) -> None:
    assert "at least one difference" in text_of(ops.post(NEW, filled()))
    twice = [{"kind": "weight", "organisation": "Speech group", "weight": str(n)} for n in (2, 3)]
    assert "by another line already" in text_of(ops.post(NEW, filled(*twice)))
    assert not Scenario.objects.exists()


def test_a_row_comes_with_a_click_and_the_size_is_said_before_the_start(ops: Client) -> None:
    row = text_of(ops.get(f"{NEW}change/?kind=mode&source=sample"))
    assert "MIG layout" in row
    assert text_of(ops.get(f"{NEW}change/?kind=none")) == ""
    size = text_of(ops.post(f"{NEW}size/", filled()))
    assert "Takes about" in size
    assert "At most" in text_of(ops.get(f"{NEW}?source=sample")) or "at most" in size
    assert "31 days" in text_of(ops.post(f"{NEW}size/", filled(end="2027-11-02T07:00")))


def test_prices_are_for_those_who_may_see_them(ops: Client, world: World) -> None:
    row = {"kind": "price", "package": str(world.package.pk), "price": "1"}
    response = ops.post(NEW, filled(row, source="history", hardware="simulated"))
    assert response.status_code == 422
    assert not Scenario.objects.exists()


def test_figures_are_shown_side_by_side_and_money_only_to_finance(ops: Client, root: Actor) -> None:
    with acting(root):
        scenario = worked(ask(root, {"kind": "node_add", "node": "sim-h100", "count": 1}, days=0.5))
    assert scenario.status == ScenarioStatus.DONE
    page = text_of(ops.get(reverse("whatif:scenario", args=[scenario.pk])))
    for words in ("A · as it is", "B · what if", "p90 wait", "By organisation", "1 node more like sim-h100"):
        assert words in page
    assert "Revenue" not in page
    assert "better" in page or "unchanged" in page
    boss = staff(PlatformRole.SUPER)
    assert "Revenue" in text_of(boss.get(reverse("whatif:scenario", args=[scenario.pk])))
    lines = ops.get(reverse("whatif:series", args=[scenario.pk, "allocation"])).json()
    assert [line["name"] for line in lines] == ["A", "B"]
    assert len(lines[0]["points"]) == 120
    assert ops.get(reverse("whatif:series", args=[scenario.pk, "secrets"])).status_code == 404
    table = text_of(ops.get(reverse("whatif:tasks", args=[scenario.pk]))).splitlines()
    assert len(table) == scenario.result["tasks"] + 1
    assert "yuan_a" not in table[0]
    assert "yuan_a" in text_of(boss.get(reverse("whatif:tasks", args=[scenario.pk]))).splitlines()[0]
    again = text_of(ops.get(f"{NEW}?from={scenario.pk}"))
    assert 'value="sim-h100"' in again


def test_a_scenario_is_cancelled_then_deleted(ops: Client, root: Actor) -> None:
    with acting(root):
        scenario = ask(root)
    refused = ops.post(reverse("whatif:delete", args=[scenario.pk]), follow=True)
    assert "Cancel it first" in text_of(refused)
    ops.post(reverse("whatif:cancel", args=[scenario.pk]))
    scenario.refresh_from_db()
    assert scenario.status == ScenarioStatus.CANCELLED
    assert "ended already" in text_of(ops.post(reverse("whatif:cancel", args=[scenario.pk]), follow=True))
    ops.post(reverse("whatif:delete", args=[scenario.pk]))
    assert not Scenario.objects.exists()


@pytest.mark.parametrize("role", [PlatformRole.FINANCE, PlatformRole.BUSINESS])
def test_other_staff_and_members_stay_out(world: World, role: PlatformRole) -> None:
    for client in (staff(role), signed_in(world.alice)):
        assert client.get(reverse("whatif:list")).status_code in (403, 404)
        assert client.post(NEW, filled()).status_code in (403, 404)
