"""One run's page: its tabs, what one can do, what it wrote."""

import pytest
from django.test import Client

from apps.audit.models import Entry as AuditEntry
from apps.common.scoping import acting
from apps.storage import services as storage
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, make_package, make_world, platform, signed_in
from tests.training.kit import counts, submit, text, url

TABS = ("overview", "log", "output", "events", "cost", "settings", "nonsense")


@pytest.mark.parametrize("tab", TABS)
def test_each_tab_opens_for_the_owner_and_not_for_a_stranger(
    world: World, alice: Client, bob: Client, charlie: Client, tab: str
) -> None:
    run = submit(world)
    assert alice.get(f"{url('detail', run)}?tab={tab}").status_code == 200
    assert alice.get(f"{url('part', run, 'now')}?tab={tab}").status_code == 200
    for outsider in (bob, charlie):
        for address in (url("detail", run), url("part", run, "now")):
            assert outsider.get(f"{address}?tab={tab}").status_code == 404


def test_a_waiting_run_says_why_and_what_is_held(world: World, alice: Client) -> None:
    page = text(alice.get(url("detail", submit(world))))
    assert "Why it waits" in page
    assert "Waiting for the scheduler" in page
    assert "Waiting and preparing are free" in page
    assert "¥3.60" in page


def test_a_waiting_run_is_offered_what_would_start_now(world: World, alice: Client) -> None:
    with acting(platform()):
        huge = make_package(cpu_milli=64_000)
    run = submit(world, package_id=huge.pk)
    page = text(alice.get(url("detail", run)))
    assert "What would start now" in page
    assert f'action="{url("instead", run)}"' in page
    assert f'name="package" value="{world.package.pk}"' in page


def test_the_charts_and_the_log_come_once(world: World, alice: Client) -> None:
    """A refresh brings them only where the page does not show that attempt yet."""
    run = submit(world)
    part = url("part", run, "now")
    assert 'id="run-live"' not in text(alice.get(f"{part}?tab=overview&shown="))
    assert 'id="run-live"' in text(alice.get(f"{part}?tab=overview&shown=1"))


def test_stopping_asks_first_and_leaves_an_audit_row(world: World, alice: Client) -> None:
    run = submit(world, name="mine")
    question = text(alice.get(url("ask", run, "stop")))
    assert "Take mine out of the queue?" in question
    assert alice.get(url("stop", run)).status_code == 405
    assert alice.post(url("stop", run)).status_code == 302
    with acting(platform()):
        assert Workload.objects.get().status == Status.STOPPED
        assert AuditEntry.objects.filter(action="workload.stopped").count() == 1
    assert "Taken out of the queue." in text(alice.get(url("detail", run)))


def test_stopping_twice_is_said_in_words(world: World, alice: Client) -> None:
    run = submit(world)
    alice.post(url("stop", run))
    alice.get(url("detail", run))
    assert "This has ended already." in text(alice.post(url("stop", run), follow=True))


@pytest.mark.parametrize("action", ["stop", "rerun"])
def test_outsiders_can_neither_stop_nor_rerun(
    world: World, bob: Client, charlie: Client, frank: Client, action: str
) -> None:
    run = submit(world)
    before = counts()
    assert bob.post(url(action, run)).status_code == 404
    assert charlie.post(url(action, run)).status_code == 404
    assert frank.post(url(action, run)).status_code == 403
    assert bob.get(url("ask", run, action)).status_code == 404
    assert counts() == before


def test_a_manager_stops_a_colleagues_run(world: World, dora: Client) -> None:
    run = submit(world)
    dora.post(url("stop", run))
    with acting(platform()):
        assert Workload.objects.get().status == Status.STOPPED


def test_running_again_shows_the_price_first(world: World, alice: Client) -> None:
    run = submit(world)
    question = text(alice.get(url("ask", run, "rerun")))
    assert "Run digits again?" in question
    assert "¥3.60" in question
    response = alice.post(url("rerun", run), {"key": "one"})
    assert response.headers["Location"] == alice.post(url("rerun", run), {"key": "one"}).headers["Location"]
    assert counts()[0] == 2


def test_a_rerun_that_is_refused_comes_back_in_words(db: None) -> None:
    with acting(platform()):
        world = make_world(balance_fen=500)
    alice = signed_in(world.alice)
    run = submit(world)
    before = counts()
    page = text(alice.post(url("rerun", run), {"key": "one"}, follow=True))
    assert "pl-toast" in page
    assert "is-fail" in page
    assert counts() == before


def test_outputs_are_browsed_and_downloaded_as_files(world: World, alice: Client, bob: Client) -> None:
    run = submit(world)
    root = storage.root_of(run.output)
    (root / "model").mkdir()
    (root / "model" / "weights.bin").write_bytes(b"\x00\x01")
    (root / "page.html").write_text("<script>alert(1)</script>")
    page = text(alice.get(f"{url('detail', run)}?tab=output"))
    assert "page.html" in page
    assert "weights.bin" in text(alice.get(f"{url('detail', run)}?tab=output&path=model"))
    answer = alice.get(f"{url('output', run)}?path=page.html&show=1")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert b"".join(alice.get(f"{url('output', run)}?path=model/weights.bin")) == b"\x00\x01"
    assert bob.get(f"{url('output', run)}?path=page.html").status_code == 404


@pytest.mark.parametrize("path", ["../code", "/etc", "missing", "link", "model/../../x"])
def test_no_path_leads_out_of_the_outputs(world: World, alice: Client, path: str) -> None:
    run = submit(world)
    (storage.root_of(run.output) / "link").symlink_to("/etc/passwd")
    assert alice.get(f"{url('detail', run)}?tab=output&path={path}").status_code == 200
    assert alice.get(f"{url('output', run)}?path={path}").status_code in (400, 404)
    assert alice.get(f"{url('detail', run)}?tab=output&path=%00").status_code == 400


def test_charts_answer_points_and_nothing_for_unknown_ones(world: World, alice: Client) -> None:
    run = submit(world)
    assert alice.get(url("metrics", run, "cpu")).json()[0]["points"] == []
    assert alice.get(f"{url('metrics', run, 'cpu')}?since=x").status_code == 200
    assert alice.get(url("metrics", run, "nonsense")).status_code == 404


def test_the_log_of_a_run_that_has_not_begun_is_empty(world: World, alice: Client) -> None:
    response = alice.get(url("log", submit(world)))
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert b"".join(response) == b""
