"""Runs of several members, as their pages and the API ask for them and show them."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.training.models import Run
from apps.workloads.choices import TERMINAL, Status
from tests.builders import World, platform
from tests.training.kit import body_for, form_for, submit, text, url
from tests.workloads.loops import until

SPEAKS = "import os, time; print('rank', os.environ['PLSTACK_RANK'], flush=True); time.sleep(1)\n"
FAILS = "import os, sys, time; sys.exit(3) if os.environ['PLSTACK_RANK'] == '1' else time.sleep(300)\n"
RUNS = "/api/v1/training/runs/"


def ended(world: World, program: str) -> Run:
    run = submit(world, text=program, members=2)
    with acting(platform()):
        until(run.workload, lambda workload: workload.status in TERMINAL, timeout_s=120)
    return run


@pytest.mark.programs
def test_each_member_has_its_log_its_charts_and_its_line(world: World, alice: Client) -> None:
    run = ended(world, SPEAKS)
    page = text(alice.get(url("detail", run)))
    assert "Members" in page
    assert "2 × " in page
    log = f"{url('detail', run)}?tab=log&rank=1"
    assert f"/ws/logs/{run.workload_id}/?rank=1&amp;attempt=1" in text(alice.get(log))
    assert b"".join(alice.get(f"{url('log', run)}?rank=1")).endswith(b"rank 1\n")
    assert alice.get(f"{RUNS}{run.pk}/log/?rank=1").content.endswith(b"rank 1\n")
    assert alice.get(f"{RUNS}{run.pk}/log/").content.endswith(b"rank 0\n")
    assert alice.get(f"{RUNS}{run.pk}/log/?rank=2").status_code == 404
    assert alice.get(f"{RUNS}{run.pk}/metrics/cpu/?rank=1").status_code == 200
    assert alice.get(f"{RUNS}{run.pk}/metrics/cpu/?rank=2").status_code == 404
    assert alice.get(f"{url('detail', run)}?tab=log&rank=999999").status_code == 200, "no rank of its is the first one"
    (attempt,) = alice.get(f"{RUNS}{run.pk}/").json()["attempts"]
    assert [(member["rank"], member["exit_code"]) for member in attempt["members"]] == [(0, 0), (1, 0)]


@pytest.mark.programs
def test_the_failure_names_the_member(world: World, alice: Client) -> None:
    run = ended(world, FAILS)
    assert run.workload.status == Status.FAILED
    page = text(alice.get(url("detail", run)))
    assert "It was the member of rank 1; the others were ended with it." in page
    assert "exit code 3" in page


def test_the_quote_is_of_all_members(world: World, alice: Client) -> None:
    page = text(alice.post(reverse("training:quote"), form_for(world, members="3")))
    assert "3 × " in page
    assert "¥10.80" in page
    assert "¥3.60/h each" in page
    half_typed = text(alice.post(reverse("training:quote"), form_for(world, members="x")))
    assert "¥3.60" in half_typed
    asked = {"package": world.package.pk, "members": 3}
    quote = alice.post("/api/v1/training/quote/", json.dumps(asked), content_type="application/json").json()
    assert (quote["hold_fen"], quote["rate_fen_per_hour"]) == (1080, "1080.0000000000")


def test_a_run_is_asked_for_with_members_by_form_and_api(world: World, alice: Client) -> None:
    assert alice.post(reverse("training:new"), form_for(world, members="2")).status_code == 302
    made = alice.post(RUNS, json.dumps(body_for(world, members=2)), content_type="application/json").json()
    assert (made["members"], made["rate_fen_per_hour"]) == (2, "720.0000000000")
    again = alice.post(f"{RUNS}{made['id']}/stop/", content_type="application/json")
    assert again.status_code == 202
    rerun = alice.post(f"{RUNS}{made['id']}/rerun/", content_type="application/json").json()
    assert rerun["members"] == 2
    clone = text(alice.get(f"{reverse('training:new')}?from={made['id']}"))
    assert 'name="members" value="2"' in clone


@pytest.mark.parametrize("members", ["0", "65", "-1", "two", "1.5"])
def test_no_number_of_members_is_answered_beside_the_field(world: World, alice: Client, members: str) -> None:
    response = alice.post(reverse("training:new"), form_for(world, members=members))
    assert response.status_code == 422
    assert "field-id_members" in text(response)
    assert (
        alice.post(RUNS, json.dumps(body_for(world, members=members)), content_type="application/json").status_code
        == 400
    )
    with acting(platform()):
        assert not Run.objects.exists()


def test_fewer_members_are_asked_for_by_form_and_api_and_kept_by_the_next_version(world: World, alice: Client) -> None:
    asked = {"members": 3, "least_members": 2, "launcher": "torchrun-elastic"}
    form = form_for(world, **{name: str(value) for name, value in asked.items()})
    quote = text(alice.post(reverse("training:quote"), form))
    assert "--nnodes={members}" in quote
    assert "With only 2 of them" in quote
    assert "¥7.20" in quote
    assert alice.post(reverse("training:new"), form).status_code == 302
    made = alice.post(RUNS, json.dumps(body_for(world, **asked)), content_type="application/json").json()
    assert (made["members"], made["least_members"]) == (3, 2)
    assert alice.get(f"{RUNS}{made['id']}/passport/").json()["least_members"] == 2
    assert "or at least 2, where there is no room for all" in text(
        alice.get(f"{reverse('training:detail', args=[made['id']])}?tab=settings")
    )
    again = alice.post(f"{RUNS}{made['id']}/rerun/", content_type="application/json").json()
    assert again["least_members"] == 2
    clone = text(alice.get(f"{reverse('training:new')}?from={made['id']}"))
    assert 'name="least_members" value="2"' in clone


@pytest.mark.parametrize(
    ("least", "launcher", "said"),
    [
        (4, "none", "From 1 to the number of all members."),
        (0, "none", ""),
        (2, "torchrun", "torchrun starts with all members or not at all."),
    ],
)
def test_a_least_number_that_cannot_be_is_answered_in_words(
    world: World, alice: Client, least: int, launcher: str, said: str
) -> None:
    body = json.dumps(body_for(world, members=3, least_members=least, launcher=launcher))
    answer = alice.post(RUNS, body, content_type="application/json")
    assert answer.status_code == 400
    assert "least_members" in text(answer)
    assert said in text(answer)
    with acting(platform()):
        assert not Run.objects.exists()


def test_the_form_forgets_a_least_number_that_its_launcher_does_not_ask_for(world: World, alice: Client) -> None:
    form = form_for(world, members="3", least_members="2", launcher="torchrun")
    assert "With only" not in text(alice.post(reverse("training:quote"), form))
    assert alice.post(reverse("training:new"), form).status_code == 302
    assert alice.post(reverse("training:new"), form_for(world, members="3", least_members="4")).status_code == 422
    with acting(platform()):
        assert Run.objects.get().workload.frozen_spec.least_members is None


@pytest.mark.programs
def test_operators_see_every_member_and_its_log(world: World, staff: Client) -> None:
    run = ended(world, SPEAKS)
    page = text(staff.get(reverse("console:workload", args=[run.workload_id])))
    assert page.count("?rank=1") >= 2
    log = staff.get(reverse("console:workload_log", args=[run.workload_id]), {"rank": "1"})
    assert b"".join(log).endswith(b"rank 1\n")


@pytest.mark.programs
def test_who_runs_with_fewer_members_says_how_many_of_how_many(world: World, alice: Client, staff: Client) -> None:
    """Four cores, a member for each: five are asked for, and two would do."""
    text_of = "import os; print('one of', os.environ['PLSTACK_MEMBERS'], flush=True)\n"
    run = submit(world, text=text_of, members=5, least_members=2)
    with acting(platform()):
        until(run.workload, lambda workload: workload.status in TERMINAL, timeout_s=120)
        assert run.workload.status == Status.SUCCEEDED
    assert "4 of 5, since there was no room for more" in text(alice.get(url("detail", run)))
    assert "4 of 5" in text(staff.get(reverse("console:workload", args=[run.workload_id])))
    (attempt,) = alice.get(f"{RUNS}{run.pk}/").json()["attempts"]
    assert [member["rank"] for member in attempt["members"]] == [0, 1, 2, 3]
    assert b"".join(alice.get(f"{url('log', run)}?rank=3")).endswith(b"one of 4\n")
