"""Pages of environments: who sees them, what they say, what they do."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.billing.models import Package
from apps.clusters import services as clusters
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs.models import Environment, Operation
from apps.envs.views.detail import TABS
from apps.envs.views.questions import QUESTIONS
from apps.registry import services as registry
from apps.storage import volumes
from apps.workloads.choices import Reason, Status
from tests.builders import World, make_package, platform
from tests.envs import kit
from tests.envs.kit import text


def page(environment: Environment, tab: str = "") -> str:
    url = reverse("envs:detail", args=[environment.pk])
    return f"{url}?tab={tab}" if tab else url


def do(client: Client, environment: Environment, name: str, **values: Any) -> Any:
    return client.post(reverse("envs:act", args=[environment.pk, name]), values)


def test_the_first_page_says_what_it_is_for(alice: Client) -> None:
    shown = text(alice.get("/environments/"))
    assert "No environment yet" in shown
    assert "/environments/new/" in shown


def test_three_clicks_make_one(alice: Client, world: World) -> None:
    form = text(alice.get("/environments/new/"))
    assert 'value="notebook-1"' in form
    assert "Create and start" in form
    answer = alice.post("/environments/new/", kit.form_for(world))
    with acting(world.actor):
        made = Environment.objects.get()
    assert answer.headers["Location"] == page(made)
    assert made.idle_minutes == 30
    assert made.expires_at is not None
    shown = text(alice.get(page(made)))
    assert "Queued" in shown
    # The shell's own figures are the machine's: the page says so, beside what counts.
    assert "<code>df</code> inside show the whole machine" in shown


def test_what_is_wrong_stands_beside_the_field_and_nothing_typed_is_lost(alice: Client, world: World) -> None:
    answer = alice.post("/environments/new/", kit.form_for(world, name="", note="remember me"))
    assert answer.status_code == 422
    shown = text(answer)
    assert "Give the environment a name." in shown
    assert "remember me" in shown
    with acting(world.actor):
        assert not Environment.objects.exists()


def test_the_quote_follows_the_package(alice: Client, world: World) -> None:
    with acting(platform()):
        dear = make_package(rate_fen=10_000_000)
    assert "Create and start" in text(alice.post("/environments/quote/", kit.form_for(world)))
    short = text(alice.post("/environments/quote/", kit.form_for(world, package=dear.pk)))
    assert "short of a start" in short
    assert text(alice.post("/environments/quote/", kit.form_for(world, package="")))


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_shows_in_every_state(alice: Client, world: World, tab: str) -> None:
    made = kit.make(world, start=False)
    assert alice.get(page(made, tab)).status_code == 200
    with acting(world.actor):
        kit.running_again(made, world)
    assert alice.get(page(made, tab)).status_code == 200
    made = kit.running(kit.again(made))
    kit.idle_for(made, 28)
    assert alice.get(page(made, tab)).status_code == 200
    kit.stopped(made, Reason.IDLE)
    assert alice.get(page(made, tab)).status_code == 200


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_question_can_be_asked(alice: Client, world: World, name: str) -> None:
    made = kit.running(kit.make(world))
    kit.write(made, "a.txt", "a")
    with acting(world.actor):
        Operation.objects.all().delete()
    query = ""
    if name == "drop-snapshot":
        do(alice, made, "snapshot")
        kit.advance()
        with acting(world.actor):
            query = f"?snapshot={made.snapshots.get().pk}"
    answer = alice.get(reverse("envs:ask", args=[made.pk, name]) + query)
    assert answer.status_code == 200
    assert "<form" in text(answer)


def test_a_released_one_is_resumed_with_one_click(alice: Client, world: World) -> None:
    made = kit.stopped(kit.make(world), Reason.IDLE)
    assert "Resume" in text(alice.get("/environments/"))
    assert do(alice, made, "start").status_code == 302
    assert kit.again(made).workload.status == Status.QUEUED  # type: ignore[union-attr]


def test_the_countdown_stands_in_the_list_and_on_the_page(alice: Client, world: World) -> None:
    made = kit.running(kit.make(world, idle_minutes=30))
    kit.idle_for(made, 27)
    for shown in (text(alice.get("/environments/")), text(alice.get(page(made)))):
        assert "releases itself in" in shown
        assert "Keep for 1 h" in shown
    do(alice, made, "keep")
    assert kit.again(made).keep_until is not None


def test_stop_saves_first_where_asked(alice: Client, world: World) -> None:
    made = kit.running(kit.make(world))
    do(alice, made, "stop", snapshot="on")
    assert "Saving, then stopping" in text(alice.get("/environments/"))
    kit.advance()
    assert kit.again(made).workload.status == Status.STOPPING  # type: ignore[union-attr]


def test_the_bin_and_back(alice: Client, world: World) -> None:
    made = kit.stopped(kit.make(world, name="silver-fox"))
    do(alice, made, "delete")
    alice.get("/")  # the page that says so
    assert "silver-fox" not in text(alice.get("/environments/"))
    assert "silver-fox" in text(alice.get("/environments/?state=binned"))
    do(alice, made, "restore")
    alice.get("/")
    assert "silver-fox" in text(alice.get("/environments/"))
    with acting(platform()):
        actions = set(Entry.objects.filter(target_id=str(made.pk)).values_list("action", flat=True))
    assert {"environment.recycled", "environment.restored"} <= actions


def test_settings_are_changed_at_once_or_by_a_restart(alice: Client, world: World) -> None:
    made = kit.running(kit.make(world))
    url = reverse("envs:change", args=[made.pk])
    with acting(platform()):
        other = make_package()
    refused = alice.post(url, kit.form_for(world, package=str(other.pk)))
    assert refused.status_code == 422
    assert "needs a restart" in text(refused)
    assert alice.post(url, kit.form_for(world, idle="60")).status_code == 302
    assert kit.again(made).idle_minutes == 60
    assert alice.post(url, kit.form_for(world, package=str(other.pk), restart="on")).status_code == 302
    with acting(world.actor):
        assert Operation.objects.get().step == "restart"


def test_a_volume_is_mounted(alice: Client, world: World) -> None:
    with acting(world.actor):
        volume = volumes.create(world.actor, name="data", size_mib=10)
    assert "data" in text(alice.get("/environments/new/"))
    alice.post("/environments/new/", kit.form_for(world, **{f"volume-{volume.pk}": "read"}))
    with acting(world.actor):
        made = Environment.objects.get()
    assert made.workload is not None
    mount = made.workload.frozen_spec.mounts[-1]
    assert (mount.target, mount.read_only, mount.source) == ("/volumes/data", True, volume.relative_path)
    assert 'value="read" selected' in text(alice.get(page(made, "settings")))


def test_ssh_says_how(alice: Client, world: World) -> None:
    made = kit.make(world)
    shown = text(alice.get(page(made, "ssh")))
    assert f"ssh {made.code}@testserver -p " in shown
    assert "You have no SSH key here yet" in shown


def test_strangers_and_colleagues_find_nothing(bob: Client, charlie: Client, world: World) -> None:
    made = kit.make(world, name="silver-fox")
    for client in (bob, charlie):
        assert client.get(page(made)).status_code == 404
        assert do(client, made, "stop").status_code == 404
        assert "silver-fox" not in text(client.get("/environments/"))


def test_the_admin_sees_all_but_opens_none(dora: Client, world: World) -> None:
    made = kit.running(kit.make(world, name="others"))
    shown = text(dora.get("/environments/"))
    assert "others" in shown
    assert f"/open/{made.workload_id}" not in shown
    assert "ssh-command" not in text(dora.get(f"/environments/{made.pk}/?tab=ssh"))
    do(dora, made, "start")
    assert kit.again(made).starts == 1
    do(dora, made, "stop")
    assert kit.again(made).workload.status == Status.STOPPING  # type: ignore[union-attr]


def test_who_keeps_the_books_starts_nothing(frank: Client, world: World) -> None:
    assert frank.get("/environments/").status_code == 200
    assert frank.get("/environments/new/").status_code == 403


def test_filters_narrow(alice: Client, world: World) -> None:
    kit.running(kit.make(world, name="one-runs"))
    kit.stopped(kit.make(world, name="two-rests"))
    for query, seen, hidden in (
        ("state=running", "one-runs", "two-rests"),
        ("state=stopped", "two-rests", "one-runs"),
        ("q=two", "two-rests", "one-runs"),
    ):
        shown = text(alice.get(f"/environments/?{query}"))
        assert seen in shown
        assert hidden not in shown


def test_a_list_asks_the_same_however_long(alice: Client, world: World, django_assert_max_num_queries: Any) -> None:
    with acting(platform()):
        Environment.objects.update(created_at=db_now() - timedelta(days=1))
    for number in range(6):
        made = kit.running(kit.make(world, name=f"nb-{number}"))
        kit.idle_for(made, 3)
    with django_assert_max_num_queries(40):
        alice.get("/environments/")


def test_images_of_ones_own_are_shared_and_removed(alice: Client, bob: Client, world: World) -> None:
    with acting(world.actor):
        image = registry.create_personal_image(world.actor, name="my-stack", base=world.image, added=["six==1.17.0"])
    assert "my-stack" in text(alice.get("/images/"))
    assert "my-stack" not in text(bob.get("/images/"))
    assert bob.post(f"/images/{image.pk}/share/", {"shared": "1"}).status_code == 404
    alice.post(f"/images/{image.pk}/share/", {"shared": "1"})
    assert "my-stack" in text(bob.get("/images/"))
    assert "Remove the image my-stack?" in text(alice.get(f"/images/{image.pk}/remove/"))
    alice.post(f"/images/{image.pk}/remove/")
    assert "my-stack" not in text(bob.get("/images/"))


def test_the_bin_ends_what_is_under_way(alice: Client, world: World) -> None:
    made = kit.running(kit.make(world))
    do(alice, made, "snapshot")
    do(alice, made, "delete")
    with acting(world.actor):
        assert Operation.objects.get().status == "failed"


def test_staff_rule_but_do_not_look_inside(staff: Client, alice: Client, world: World) -> None:
    made = kit.running(kit.make(world, name="ruled"))
    shown = text(staff.get("/console/environments/"))
    assert "ruled" in shown
    assert f"/open/{made.workload_id}" not in shown
    act = f"/console/environments/{made.pk}"
    assert "Stop ruled?" in text(staff.get(f"{act}/stop/"))
    staff.post(f"{act}/stop/")
    assert kit.again(made).workload.status == Status.STOPPING  # type: ignore[union-attr]
    kit.stopped(made)
    staff.post(f"{act}/delete/")
    staff.post(f"{act}/restore/")
    assert kit.again(made).deleted_at is None
    assert alice.get("/console/environments/").status_code == 403
    rows = staff.get("/api/v1/console/environments/").json()["results"]
    assert [row["organisation"]["name"] for row in rows] == [world.organisation.name]
    assert staff.post(f"/api/v1/console/environments/{made.pk}/recycle/").json()["state"] == "binned"
    assert staff.post(f"/api/v1/console/environments/{made.pk}/purge/").status_code == 204


def test_on_simulated_hardware_it_is_free_and_does_not_say_that_it_is_charged(alice: Client, world: World) -> None:
    with acting(platform()):
        zone = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
        clusters.offer_packages(platform(), zone_id=zone.pk)
        package = Package.objects.get(name_en="H100 whole card (simulated)")
    free = kit.running(kit.make(replace(world, package=package)))
    page = kit.text(alice.get(f"/environments/{free.pk}/"))
    assert "Simulated hardware: nothing is charged" in page
    assert "Charging<" not in page
    real = kit.running(kit.make(world))
    assert "Charging<" in kit.text(alice.get(f"/environments/{real.pk}/"))
