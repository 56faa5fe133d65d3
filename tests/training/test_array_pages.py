"""Arrays in the form, on their page and in the API, and who may do what with them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.training.models import RunArray
from apps.workloads.choices import Status
from tests.builders import World, platform
from tests.training import kit
from tests.training.array_kit import THREE, advance, lines_of, runs, start

pytestmark = pytest.mark.django_db
ARRAYS = "/api/v1/training/arrays/"


def test_the_form_starts_an_array_and_its_page_shows_every_line(world: World, alice: Client) -> None:
    form = kit.form_for(world, lines="--lr,--seed\n0.1,1\n0.2,2\n", line_shape="csv")
    answer = alice.post(reverse("training:new"), form)
    with acting(platform()):
        array = RunArray.objects.get()
    assert answer["Location"] == reverse("training:array", args=[array.pk])
    assert [line.row.arguments for line in lines_of(array)] == [
        [["--epochs", "20"], ["--lr", "0.1"], ["--seed", "1"]],
        [["--epochs", "20"], ["--lr", "0.2"], ["--seed", "2"]],
    ]
    html = alice.get(answer["Location"]).content.decode()
    assert "--epochs 20 --lr 0.2" in html
    listed = alice.get(reverse("training:list"), {"array": str(array.pk)})
    assert len(listed.context["table"].rows) == 1
    assert reverse("training:array", args=[array.pk]) in alice.get(kit.url("detail", runs()[0])).content.decode()


def test_a_bad_line_starts_nothing_and_what_was_typed_stays(world: World, alice: Client) -> None:
    form = kit.form_for(world, lines="--lr 'open\n--lr 2", line_shape="words")
    answer = alice.post(reverse("training:new"), form)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "Line 1: a quotation mark is not closed." in html
    assert "--lr &#x27;open" in html
    assert kit.counts()[:2] == (0, 0)


def test_the_preview_shows_what_would_start_and_reads_a_file(world: World, alice: Client) -> None:
    url = reverse("training:array_preview")
    typed = alice.post(url, kit.form_for(world, lines="--lr 0.1\n--lr 0.2")).content.decode()
    assert "--epochs 20 --lr 0.2" in typed
    assert "id_lines" not in typed
    file = SimpleUploadedFile("sweep.csv", b"\xef\xbb\xbf--lr\n0.5\n")
    read = alice.post(url, {**kit.form_for(world), "lines_file": file}).content.decode()
    assert "--epochs 20 --lr 0.5" in read
    assert 'value="csv" selected' in read
    binary = SimpleUploadedFile("sweep.csv", b"\xff\xfe\x00")
    refused = alice.post(url, {**kit.form_for(world), "lines_file": binary}).content.decode()
    assert "not text in UTF-8" in refused
    assert kit.counts()[:2] == (0, 0)


def test_acts_on_the_page_and_who_may(world: World, alice: Client, bob: Client, frank: Client, charlie: Client) -> None:
    array = start(world)
    for client in (bob, charlie):
        for name in ("array_stop", "array_rerun"):
            assert client.post(reverse(f"training:{name}", args=[array.pk])).status_code == 404
        assert client.get(reverse("training:array", args=[array.pk])).status_code == 404
    assert frank.post(reverse("training:array_stop", args=[array.pk])).status_code == 403
    ask = reverse("training:array_ask", args=[array.pk, "stop"])
    assert "Stop all runs of digits?" in alice.get(ask).content.decode()
    assert alice.post(reverse("training:array_stop", args=[array.pk])).status_code == 302
    assert {run.workload.status for run in runs()} == {Status.STOPPED}


def test_the_interface_starts_reads_stops_and_reruns(world: World, alice: Client, charlie: Client) -> None:
    body = kit.body_for(world, lines=THREE, at_once=2)
    made = alice.post(ARRAYS, body, content_type="application/json", headers={"Idempotency-Key": "k1"})
    assert made.status_code == 201, made.content
    found = made.json()
    assert found["progress"] == {
        "total": 3, "waiting": 2, "queued": 1, "running": 0, "succeeded": 0, "failed": 0, "stopped": 0
    }  # fmt: skip
    assert found["lines"][1]["arguments"] == [["--epochs", "20"], ["--lr", "0.2"]]
    url = f"{ARRAYS}{found['id']}/"
    assert charlie.get(url).status_code == 404
    assert alice.post(f"{url}rerun/").status_code == 409
    stopped = alice.post(f"{url}stop/").json()
    assert stopped["progress"]["stopped"] == 3
    bad = alice.post(ARRAYS, kit.body_for(world, lines="--a 'x"), content_type="application/json")
    assert bad.status_code == 400
    assert "lines" in bad.json()["fields"]


def test_a_colleague_who_manages_stops_it_but_the_loop_acts_as_the_owner(world: World, dora: Client) -> None:
    array = start(world)
    advance()
    assert {run.owner_id for run in runs()} == {world.alice.pk}
    assert dora.post(reverse("training:array_stop", args=[array.pk])).status_code == 302
    assert {run.workload.status for run in runs()} == {Status.STOPPED}
