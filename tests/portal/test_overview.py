"""The portal's first page: four answers, and what opens below each."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.sql.compiler import SQLCompiler
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.billing.models import ArrearsState, Package
from apps.clusters.models import Accelerator, Node
from apps.common.scoping import acting
from apps.notifications.services import notify_user
from apps.tenants import quotas
from apps.tenants import services as tenants
from apps.tenants.choices import OrganisationStatus, Resource, Role
from apps.tenants.models import User
from apps.workloads.models import Attempt
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_node,
    make_package,
    make_staff,
    make_user,
    make_world,
    platform,
    signed_in,
)
from tests.portal.kit import explain, fail, start
from tests.training.kit import submit

pytestmark = pytest.mark.django_db

HOME, FREE = "/", "/overview/free/"


def answers(client: Client, **query: str) -> dict[str, dict[str, object]]:
    return {str(cell["label"]): cell for cell in client.get(HOME, query).context["strip"]}


def page(client: Client, **query: str) -> str:
    return str(client.get(HOME, query).content.decode())


# Who


def test_a_stranger_signs_in_first(client: Client) -> None:
    assert client.get(HOME).status_code == 302
    assert client.get(FREE).status_code == 302


def test_a_person_without_an_organisation_is_told_so(db: None) -> None:
    with acting(platform()):
        charlie, staff = make_user("charlie"), make_staff()
    words = page(signed_in(charlie))
    assert "You belong to no organisation yet" in words
    assert charlie.username in words
    assert signed_in(staff).get(HOME)["Location"] == "/console/", "staff work there"
    assert signed_in(charlie).get(FREE).status_code == 403


def test_a_frozen_organisation_reads_and_starts_nothing(world: World) -> None:
    with acting(platform()) as staff:
        tenants.set_organisation_status(staff, organisation_id=world.organisation.pk, status=OrganisationStatus.FROZEN)
    client = signed_in(world.alice)
    assert "/training/new/" not in page(client)
    assert "/training/new/" not in client.get(FREE).content.decode()


def test_who_may_not_start_is_offered_no_button(world: World) -> None:
    with acting(platform()):
        finance = make_member(world.organisation, "frank", Role.FINANCE)
    words = page(signed_in(finance))
    assert "Your role may look at runs but not start any." in words
    assert "/training/new/" not in words
    assert "/environments/new/" not in words
    offered = page(signed_in(world.alice))
    assert all(f'href="{path}"' in offered for path in ("/training/new/", "/environments/new/"))


# What runs


def test_nothing_yet_says_what_this_is_for_and_the_first_step(world: World) -> None:
    words = page(signed_in(world.alice))
    assert "You see the price before it starts." in words
    assert "/training/new/" in words
    assert "No failure, no warning, nothing unread." in words


def test_runs_are_told_apart_by_state(world: World) -> None:
    start(world, submit(world, name="the-running"))
    submit(world, name="the-waiting")
    client = signed_in(world.alice)
    cell = answers(client)["Running"]
    assert (cell["value"], cell["sub"]) == (1, "0 starting · 1 queued")
    words = page(client)
    assert words.index("the-waiting") < words.index("the-running")
    assert "not charged" in words
    assert "3.60" in words


def test_a_run_that_nobody_has_seen_for_long_is_unknown_not_running(world: World) -> None:
    run = start(world, submit(world))
    with acting(platform()):
        Attempt.objects.filter(workload=run.workload).update(seen_at=timezone.now() - timedelta(minutes=5))
    words = page(signed_in(world.alice))
    assert "Unknown" in words
    assert "last seen" in words


def test_one_sees_ones_own_runs_and_admins_everybodys_when_they_ask(world: World, bob: User) -> None:
    submit(world, name="alices-run")
    submit(world, actor_of(bob), name="bobs-run")
    admin, member = signed_in(world.alice), signed_in(bob)
    assert "bobs-run" not in page(admin)
    assert "bobs-run" in page(admin, whose="all")
    assert "Organisation 2" in page(admin)
    assert "alices-run" not in page(member, whose="all")


def test_another_organisations_runs_do_not_exist(world: World) -> None:
    with acting(platform()):
        other = make_world(role=Role.ADMIN)
    submit(other, name="their-secret")
    assert "their-secret" not in page(signed_in(world.alice), whose="all")


def test_rows_cost_no_queries_of_their_own(world: World) -> None:
    client, counts = signed_in(world.alice), []
    client.get(HOME)  # the first visit writes the sign-in down
    for _again in range(2):
        for _each in range(3):
            start(world, submit(world))
        with CaptureQueriesContext(connection) as queries:
            client.get(HOME)
        counts.append(len(queries))
    assert counts[0] == counts[1]


# What it costs


def test_cost_per_hour_and_how_long_it_lasts(world: World) -> None:
    client = signed_in(world.alice)
    cell = answers(client)["Cost per hour, organisation"]
    assert (cell["value"], "Nothing that costs runs now" in str(cell["sub"])) == ("¥0.00/h", True)
    start(world, submit(world))
    cell = answers(client)["Cost per hour, organisation"]
    assert (cell["value"], "lasts until" in str(cell["sub"])) == ("¥3.60/h", True)


def test_members_see_their_own_spending_and_not_the_organisations(world: World, bob: User) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package)
    assert "This month, organisation" in page(signed_in(world.alice))
    words = page(signed_in(bob))
    assert "This month, organisation" not in words
    spent = signed_in(bob).get(HOME).context["spent"]
    assert (spent.mine_today_fen, spent.all_today_fen, spent.all_month_fen) == (0, None, None)


# What needs me


def test_a_failure_needs_me_until_it_has_a_later_version(world: World, bob: User) -> None:
    failed = fail(submit(world, name="broken"))
    client = signed_in(world.alice)
    assert answers(client)["Needs me"]["value"] == 1
    assert "broken: Failed: the runtime could not be prepared" in page(client)
    assert answers(signed_in(bob))["Needs me"]["value"] == 0
    submit(world, name="broken", parent_id=failed.pk)
    assert answers(client)["Needs me"]["value"] == 0


def test_what_can_never_start_needs_me(world: World) -> None:
    explain(submit(world, name="too-large"), "never_fits")
    explain(submit(world, name="patient"), "cpu")
    cell = answers(signed_in(world.alice))["Needs me"]
    assert (cell["value"], cell["sub"]) == (1, "1 cannot start")


@pytest.mark.parametrize(
    ("status", "words"),
    [("low", "running low"), ("grace", "used up"), ("suspended", "stopped because the balance ran out")],
)
def test_a_wallet_in_trouble_needs_me_once(world: World, status: str, words: str) -> None:
    with acting(platform()):
        ArrearsState.objects.update_or_create(organisation=world.organisation, defaults={"status": status})
        here, alice = world.organisation.pk, world.alice.pk
        notify_user(organisation_id=here, user_id=alice, kind=f"billing.{status}", data={"funds_fen": 1})
    client = signed_in(world.alice)
    assert answers(client)["Needs me"]["value"] == 1
    assert words in page(client)


def test_unread_notices_need_me(world: World) -> None:
    with acting(platform()):
        for kind in ("billing.restored", "from.the.future"):
            notify_user(organisation_id=world.organisation.pk, user_id=world.alice.pk, kind=kind, data={})
    client = signed_in(world.alice)
    assert answers(client)["Needs me"]["sub"] == "2 notices"
    client.post("/notifications/read/")
    assert answers(client)["Needs me"]["value"] == 0


# What is free


def offered(client: Client) -> dict[Package, tuple[int, bool]]:
    return {each.package: (each.count, each.by_quota) for each in client.get(FREE).context["offered"]}


def test_free_is_what_would_start_and_shrinks_as_something_does(world: World) -> None:
    client = signed_in(world.alice)
    assert offered(client)[world.package] == (4, False)
    assert answers(client)["Free now"]["value"] == "4"
    start(world, submit(world))
    assert offered(client)[world.package] == (3, False)
    assert answers(client)["Free now"]["value"] == "3"


def test_a_quota_may_leave_less_than_there_is_room_for(world: World) -> None:
    with acting(platform()) as staff:
        quotas.set_limit(staff, organisation_id=world.organisation.pk, resource=Resource.CPU_MILLI, limit=2500)
    client = signed_in(world.alice)
    assert offered(client)[world.package] == (2, True)
    assert "by quota" in client.get(FREE).content.decode()


def test_a_machine_that_takes_no_work_is_not_free(world: World) -> None:
    with acting(platform()):
        Node.objects.update(status="cordoned")
    client = signed_in(world.alice)
    assert offered(client)[world.package] == (0, False)
    assert answers(client)["Free now"]["value"] == "—"


def test_an_unisolated_machine_of_others_is_not_free(world: World) -> None:
    with acting(platform()):
        Node.objects.update(isolation="L0")
        other = make_world(role=Role.ADMIN)
        Node.objects.exclude(pk=world.node.pk).delete()
    assert offered(signed_in(other.alice))[other.package] == (0, False)


def test_untouched_cards_are_counted_by_model(world: World) -> None:
    with acting(platform()):
        node = make_node()
        for index in range(3):
            Accelerator.objects.create(
                node=node, uuid=f"GPU-{index}", index=index, vendor="nvidia", model="H200", memory_mib=144_384
            )
    cell = answers(signed_in(world.alice))["Whole cards free now"]
    assert (cell["value"], cell["unit"], cell["sub"]) == (3, "of 3 cards", "H200 3")


def test_nothing_can_be_started_from_the_card_while_the_wallet_is_empty(world: World) -> None:
    client = signed_in(world.alice)
    assert "aria-disabled" not in client.get(FREE).content.decode()
    with acting(platform()):
        ArrearsState.objects.update_or_create(organisation=world.organisation, defaults={"status": "grace"})
    words = client.get(FREE).content.decode()
    assert "aria-disabled" in words
    assert "Nothing starts until the wallet is topped up." in words


def test_the_button_of_a_package_opens_the_form_with_it(world: World) -> None:
    submit(world)  # the form's defaults come from it
    with acting(platform()):
        other = make_package()
    client = signed_in(world.alice)
    link = f"/training/new/?package={other.pk}"
    assert link in client.get(FREE).content.decode()
    assert client.get(link).context["form"]["package"].value() == str(other.pk)


def test_a_second_visit_composes_few_statements_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composing took most of the page's time: what is asked at every visit is prepared."""
    client = signed_in(world.alice)
    page(client)
    composed: list[str] = []
    compose = SQLCompiler.as_sql

    def counted(self: SQLCompiler, *args: Any, **kwargs: Any) -> Any:
        composed.append(self.query.model.__name__)
        return compose(self, *args, **kwargs)

    monkeypatch.setattr(SQLCompiler, "as_sql", counted)
    page(client)
    assert len(composed) <= 22, composed
    assert not {"Run", "Environment", "Attempt", "Membership"} & set(composed)
