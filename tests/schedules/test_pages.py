"""Schedules on their pages and in the API: the form, its live moments, the list, the history, and who may do what."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.schedules.choices import Overlap, ScheduleStatus
from apps.schedules.models import Schedule
from apps.training import deletion
from apps.workloads.choices import Status
from tests.builders import World, platform
from tests.schedules import kit
from tests.training import kit as training
from tests.training.array_kit import lines_of, runs
from tests.training.array_kit import start as start_array

pytestmark = pytest.mark.django_db
API = "/api/v1/schedules/"


def url(name: str, row: Schedule, *args: str) -> str:
    return reverse(f"schedules:{name}", args=[row.pk, *args])


def form(**changes: Any) -> dict[str, Any]:
    return {"name": "nightly", "cron": "0 2 * * 1-5", "overlap": "wait", **changes}


def all_schedules() -> list[Schedule]:
    with acting(platform()):
        return list(Schedule.objects.order_by("created_at"))


def test_it_is_made_on_the_page_of_a_run_changed_and_shown(world: World, alice: Client) -> None:
    run = training.submit(world)
    new = f"{reverse('schedules:new')}?run={run.pk}"
    assert new.replace("&", "&amp;") in alice.get(training.url("detail", run)).content.decode()
    assert "Every day: at 02:00" in alice.get(new).content.decode()
    answer = alice.post(new, form(until_at="2099-01-01T08:00"))
    (row,) = all_schedules()
    assert answer["Location"] == url("detail", row)
    assert (row.cron, row.overlap, row.run_id) == ("0 2 * * 1-5", Overlap.WAIT, run.pk)
    assert row.until_at is not None
    assert row.until_at.isoformat() == "2099-01-01T00:00:00+00:00"  # as typed in the billing zone
    html = alice.get(url("detail", row)).content.decode()
    assert "Monday to Friday: at 02:00" in html
    assert "Nothing has started yet" in html
    edit = alice.get(url("edit", row)).content.decode()
    assert 'value="2099-01-01T08:00"' in edit
    assert alice.post(url("edit", row), form(cron="*/30 * * * *")).status_code == 302
    assert (kit.again(row).cron, kit.again(row).until_at) == ("*/30 * * * *", None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cron": "61 * * * *"}, "“61” is no minute"),
        ({"cron": "0 0 31 2 *"}, "There is no such day"),
        ({"cron": ""}, "Say when"),
        ({"name": " "}, "Give the schedule a name."),
        ({"until_at": "2001-01-01T00:00"}, "No moment comes before this end."),
        ({"from_at": "2099-01-02T00:00", "until_at": "2099-01-01T00:00"}, "The end is before the beginning."),
        ({"overlap": "pile"}, "Select a valid choice"),
    ],
)
def test_bad_input_is_told_beside_its_field_and_changes_nothing(
    world: World, alice: Client, changes: dict[str, str], said: str
) -> None:
    run = training.submit(world)
    answer = alice.post(f"{reverse('schedules:new')}?run={run.pk}", form(**changes))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert all_schedules() == []


def test_the_moments_are_shown_while_one_types(world: World, alice: Client) -> None:
    page = reverse("schedules:moments")
    html = alice.get(page, {"cron": "0 2 29 2 *"}).content.decode()
    assert "02-29 02:00" in html
    assert html.count("<time") == 5
    assert "no such day" in alice.get(page, {"cron": "0 0 30 2 *"}).content.decode()
    assert "five fields" in alice.get(page, {"cron": "x"}).content.decode()
    assert alice.get(page).content.decode().strip() == ""


def test_the_history_tells_each_start_and_why_one_was_skipped(world: World, alice: Client) -> None:
    row = kit.schedule(world)
    kit.come(row, ago=timedelta(days=2))
    kit.come(row)
    html = alice.get(url("detail", row)).content.decode()
    assert "The last run had not ended." in html
    assert "stands for 2 earlier moments" in html
    assert ">v2</a>" in html


def test_acts_by_the_page(world: World, alice: Client) -> None:
    row = kit.schedule(world)
    assert alice.post(url("pause", row)).status_code == 302
    assert kit.again(row).status == ScheduleStatus.PAUSED
    assert "It is not active." in alice.post(url("pause", row), follow=True).content.decode()
    assert alice.post(url("resume", row)).status_code == 302
    assert kit.again(row).status == ScheduleStatus.ACTIVE
    assert alice.post(url("run_now", row), {"key": "once"}).status_code == 302
    assert alice.post(url("run_now", row), {"key": "once"}).status_code == 302
    assert len(kit.starts(row)) == 1
    assert "Delete the schedule nightly?" in alice.get(url("ask", row, "delete")).content.decode()
    kit.turn()
    assert alice.post(url("delete", row)).status_code == 302
    assert all_schedules() == []
    assert alice.get(reverse("schedules:list")).content.decode().count("No schedule yet") == 1


def test_nobody_else_sees_or_changes_it_but_who_manages_the_runs(
    world: World, bob: Client, charlie: Client, dora: Client, frank: Client
) -> None:
    row = kit.schedule(world)
    acts = ("pause", "resume", "run_now", "delete")
    for client in (bob, charlie):
        assert client.get(url("detail", row)).status_code == 404
        assert {client.post(url(name, row)).status_code for name in acts} == {404}
        assert client.get(f"{API}{row.pk}/").status_code == 404
        assert client.get(API).json()["results"] == []
    assert {frank.post(url(name, row)).status_code for name in acts} == {403}
    assert dora.post(url("pause", row)).status_code == 302
    assert kit.again(row).status == ScheduleStatus.PAUSED


def test_a_run_of_somebody_else_is_no_template(world: World, bob: Client) -> None:
    run = training.submit(world)
    assert bob.get(f"{reverse('schedules:new')}?run={run.pk}").status_code == 404
    assert bob.get(f"{reverse('schedules:new')}?run=x").status_code == 404
    body = {"run": str(run.pk), "name": "mine", "cron": "0 2 * * *"}
    assert bob.post(API, body, content_type="application/json").status_code == 404


def test_the_run_that_it_repeats_is_not_deleted(world: World) -> None:
    run = training.submit(world)
    kit.put(run, Status.SUCCEEDED)
    kit.schedule(world, run)
    run.workload.refresh_from_db()
    with acting(world.actor):
        uses = deletion.deletion_of(world.actor, run).uses
    assert [use.name for use in uses] == ["nightly"]


def test_the_interface(world: World, alice: Client) -> None:
    run = training.submit(world)
    body = {"run": str(run.pk), "name": "nightly", "cron": "0 2 * * mon", "overlap": "replace"}
    made = alice.post(API, body, content_type="application/json")
    assert made.status_code == 201
    found = made.json()
    assert (found["words"], found["status"]) == ("Monday: at 02:00", "active")
    page = f"{API}{found['id']}/"
    assert [row["id"] for row in alice.get(API).json()["results"]] == [found["id"]]
    assert alice.post(f"{page}pause/").json()["next_at"] is None
    assert alice.post(f"{page}pause/").status_code == 409
    assert alice.post(f"{page}resume/").json()["next_at"] == found["next_at"]
    assert alice.post(f"{page}run/", headers={"Idempotency-Key": "k"}).status_code == 202
    kit.turn()
    (start,) = alice.get(f"{page}starts/").json()["results"]
    assert (start["cause"], start["status"]) == ("hand", "started")
    bad = alice.put(page, {"name": "nightly", "cron": "0 25 * * *"}, content_type="application/json")
    assert (bad.status_code, list(bad.json()["fields"])) == (400, ["cron"])
    changed = alice.put(page, {"name": "daily", "cron": "0 3 * * *"}, content_type="application/json")
    assert (changed.json()["name"], changed.json()["overlap"]) == ("daily", "skip")
    assert alice.delete(page).status_code == 204
    assert alice.get(page).status_code == 404


def test_the_list_is_narrowed(world: World, alice: Client) -> None:
    row = kit.schedule(world)
    kit.schedule(world, name="weekly")
    alice.post(url("pause", row))
    listed = reverse("schedules:list")
    assert len(alice.get(listed).context["table"].rows) == 2
    assert len(alice.get(listed, {"status": "paused"}).context["table"].rows) == 1
    assert len(alice.get(listed, {"q": "week"}).context["table"].rows) == 1


def test_a_start_of_a_line_of_an_array_is_no_further_try_at_it(world: World) -> None:
    array = start_array(world)
    (first, *_others) = runs()
    kit.put(first, Status.SUCCEEDED)
    row = kit.schedule(world, first)
    kit.come(row)
    (start,) = kit.starts(row)
    assert start.run is not None
    assert (start.run.parent_id, start.run.array_line_id) == (first.pk, None)
    assert lines_of(array)[0].tries == 1
