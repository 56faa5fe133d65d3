"""What people see of replicas, on pages and in the API, and one set whose programs really run."""

import re
from uuid import uuid4

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.workloads import selectors
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.models import Attempt, ReplicaSet, Workload
from apps.workloads.nodes import driver_named
from apps.workloads.replicas import services as replicas
from tests.builders import World, platform
from tests.drivers.kit import eventually
from tests.kinds.replicated import all_serve, live, newest, serve, until_set

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("serving_toy")]


@pytest.fixture
def band(world: World) -> ReplicaSet:
    """Two that wait: nobody has turned the loops."""
    return serve(world, 2, package=world.package)


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return re.sub(r"\s+", " ", answer.content.decode())


@pytest.mark.programs
def test_real_programs_serve_die_and_are_replaced(world: World, alice: Client, staff: Client) -> None:
    """On the local driver: each has a process and a log of its own."""
    says = "import os, time; print('I am', os.environ['PLSTACK_REPLICA'], flush=True); time.sleep(600)"
    argv = ("python", "-c", says)
    found = serve(world, 2, package=world.package, argv=argv)
    with acting(platform()):
        try:
            until_set(found, all_serve(found))
            first, second = (newest(live(found)[index]) for index in range(2))
            for index, attempt in enumerate((first, second)):
                says_so = b"I am %d\n" % index
                eventually(
                    lambda attempt=attempt: selectors.log_chunk(attempt).data,
                    lambda log, end=says_so: log.endswith(end),
                )
            driver_named("local").stop(Handle.from_dict(first.handle or {}), 0.0)
            until_set(found, lambda seen: seen.serving == 1 and seen.waiting == 1)
            second.refresh_from_db()
            assert second.ended_at is None
            page = text(alice, f"/toys/bands/{found.pk}/?replica=1")
            assert "1 of 2 serve" in page
            assert f"/ws/logs/{second.workload_id}/" in page
            assert "starts again at" in page
            assert "<dt>Replica</dt>" in text(staff, f"/console/workloads/{first.workload_id}/")
            replicas.scale(world.actor, found.pk, 1)
            until_set(found, all_serve(found))
            assert list(live(found)) == [1], "what waits goes before what serves"
        finally:
            replicas.stop(world.actor, found.pk)
            until_set(found, lambda seen: seen.status == Status.STOPPED)
    assert not Attempt.objects.with_scopes_disabled().filter(ended_at__isnull=True).exists()


def test_the_page_lists_them_and_scales(world: World, band: ReplicaSet, alice: Client) -> None:
    page = text(alice, f"/toys/bands/{band.pk}/")
    assert "0 of 2 serve" in page
    assert page.count('<td class="pl-strong">') == 2
    assert "data-log=" not in page, "there is no log before anything started"
    assert alice.post(f"/toys/bands/{band.pk}/scale/", {"replicas": "3"}).status_code == 302
    assert "0 of 3 serve" in text(alice, f"/toys/bands/{band.pk}/")


@pytest.mark.parametrize("given", ["", "0", "-1", "65", "many", "²", "1e2", "99999999999"])
def test_what_is_no_number_of_replicas_is_said_and_changes_nothing(
    world: World, band: ReplicaSet, alice: Client, given: str
) -> None:
    answer = alice.post(f"/toys/bands/{band.pk}/scale/", {"replicas": given}, follow=True)
    assert "From 1 to 64 replicas." in answer.content.decode()
    with acting(platform()):
        band.refresh_from_db()
        assert band.wanted == 2


def test_an_ended_set_says_so_and_is_not_scaled(world: World, band: ReplicaSet, alice: Client) -> None:
    with acting(world.actor):
        replicas.stop(world.actor, band.pk)
    page = text(alice, f"/toys/bands/{band.pk}/")
    assert "None is left." in page
    assert "/scale/" not in page
    answer = alice.post(f"/toys/bands/{band.pk}/scale/", {"replicas": "3"}, follow=True)
    assert "This has ended already" in answer.content.decode()


def test_others_do_not_see_it_and_who_only_reads_does_not_scale(
    world: World, band: ReplicaSet, bob: Client, charlie: Client, dora: Client
) -> None:
    path = f"/toys/bands/{band.pk}/"
    assert [client.get(path).status_code for client in (bob, charlie, dora)] == [404, 404, 200]
    assert [client.post(f"{path}scale/", {"replicas": "3"}).status_code for client in (bob, charlie)] == [404, 404]
    api = f"/api/v1{path}"
    assert [client.get(api).status_code for client in (bob, charlie, dora)] == [404, 404, 200]
    assert bob.delete(api).status_code == 404
    assert dora.get(f"/toys/bands/{uuid4()}/").status_code == 404


def test_the_api_shows_scales_and_ends_it(world: World, band: ReplicaSet, alice: Client) -> None:
    api = f"/api/v1/toys/bands/{band.pk}/"
    seen = alice.get(api).json()
    assert {name: seen[name] for name in ("name", "status", "wanted", "serving", "waiting", "ended_at")} == {
        "name": "band",
        "status": "queued",
        "wanted": 2,
        "serving": 0,
        "waiting": 2,
        "ended_at": None,
    }
    assert [(one["index"], one["name"], one["node"], one["restarts"]) for one in seen["replicas"]] == [
        (0, "band-0", "", 0),
        (1, "band-1", "", 0),
    ]
    assert alice.patch(api, {"replicas": 4}, content_type="application/json").json()["wanted"] == 4
    refused = alice.patch(api, {"replicas": 65}, content_type="application/json")
    assert refused.status_code == 400
    assert "replicas" in refused.json()["fields"]
    ended = alice.delete(api)
    assert (ended.status_code, ended.json()["status"], ended.json()["reason"]) == (202, "stopped", "by_person")
    assert alice.patch(api, {"replicas": 2}, content_type="application/json").status_code == 409


def test_the_console_names_the_set_of_a_replica_and_the_log_its_acts(
    world: World, band: ReplicaSet, staff: Client
) -> None:
    with acting(platform()):
        row = Workload.objects.get(replica_set=band, replica_index=1)
    page = text(staff, f"/console/workloads/{row.pk}/")
    assert "<dt>Replica</dt>" in page
    assert "band" in page
    assert "Replicas started" in text(staff, "/console/audit/")
