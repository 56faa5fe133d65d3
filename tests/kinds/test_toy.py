"""A kind that the house does not have: its folder alone makes it whole."""

from uuid import uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from apps.billing import services as billing
from apps.billing.caps.selectors import cap_limit
from apps.billing.models import Charge
from apps.common.clock import db_now
from apps.common.errors import Denied, QuotaExceeded
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.notifications.selectors import unread
from apps.notifications.words import words
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Holding
from apps.tenants.permission_words import grouped, words_for
from apps.tenants.roles import ORGANISATION_ROLES, organisation_permissions
from apps.tenants.selectors import level_lines
from apps.tenants.services.roles import create_role
from apps.workloads import announce, kinds, permissions, selectors, services
from apps.workloads.choices import Status
from apps.workloads.kinds import KindRules
from apps.workloads.launching.request import Launch
from apps.workloads.models import Workload
from apps.workloads.offers import quotecard
from apps.workloads.offers.quoting import offer
from tests.builders import World, actor_of, make_member, platform, reload
from tests.kinds.toy.kind import KIND, LINE, MANAGE_ALL, PLAY, VIEW
from tests.kinds.toy.services import wind_up
from tests.workloads.loops import until

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("toy")]


def wound(world: World, name: str = "monkey") -> Workload:
    with acting(world.actor):
        launch = Launch(name=name, image_id=world.image.pk, package_id=world.package.pk, key=uuid4().hex)
        return wind_up(world.actor, launch, says="clap clap")


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def played(world: World) -> Workload:
    """A toy that ran on a real machine and ended."""
    monkey = wound(world)
    with acting(platform()):
        return until(monkey, lambda w: not w.is_live)


@pytest.mark.programs
def test_it_runs_and_has_a_list_a_page_and_a_log(world: World, played: Workload, alice: Client) -> None:
    assert (played.kind, played.status) == ("toy", Status.SUCCEEDED)
    assert f"/toys/{played.pk}/" in text(alice, "/toys/")
    page = text(alice, f"/toys/{played.pk}/")
    assert "monkey" in page
    assert f"/ws/logs/{played.pk}/" in page
    assert "clap clap" in text(alice, f"/toys/{played.pk}/log/")


@pytest.mark.programs
def test_its_use_is_charged_and_on_the_bill(world: World, played: Workload) -> None:
    with acting(platform()) as actor:
        billing.rate_organisation(actor, organisation_id=world.organisation.pk, until=db_now())
        charges = Charge.objects.filter(session__workload_id=played.pk)
        assert charges.get().session.label == "monkey"


@pytest.mark.programs
def test_its_owner_is_told_that_it_ended_in_its_own_words(world: World, played: Workload) -> None:
    with acting(world.actor):
        (notice,) = unread(world.actor).filter(kind="toy.wound_down")
    said = words(notice)
    assert (said.title, said.url) == ("monkey has wound down", f"/toys/{played.pk}/")


def test_what_befalls_any_work_is_told_of_it_too(world: World) -> None:
    monkey = wound(world)
    with acting(platform()):
        announce.tell_owner(monkey, "cap_reached", {"limit_fen": 500}, "once")
        notice = Notice.objects.get(kind="toy.cap_reached")
    assert "¥5.00" in words(notice).text
    assert words(notice).url == f"/toys/{monkey.pk}/"


def test_a_quote_has_its_words(world: World) -> None:
    with acting(world.actor):
        card = quotecard.card(world.actor, offer(world.actor, world.package, kind=KIND))
    assert card["button"] == "Wind it up"
    assert "until it has wound down" in {row.get("sub") for row in card["rows"]}


def test_it_has_a_line_of_quota_that_can_be_limited(world: World) -> None:
    with acting(platform()) as actor:
        assert (LINE, "") in [(line.resource, line.model) for line in level_lines(world.organisation.pk)]
        quotas.set_limit(actor, organisation_id=world.organisation.pk, resource=LINE, limit=1)
    monkey = wound(world)
    with pytest.raises(QuotaExceeded) as refused:
        wound(world, "drummer")
    assert "Toys at a time" in str(refused.value.message)
    with acting(platform()):
        held = Holding.objects.filter(holder_id=monkey.pk).values_list("resource", "amount")
        assert ("toys", 1) in set(held)
    with acting(world.actor):
        services.stop(world.actor, monkey)
        assert not Holding.objects.filter(holder_id=monkey.pk).exists()


def test_roles_hold_its_rights_and_own_roles_may(world: World) -> None:
    assert {VIEW, PLAY} <= ORGANISATION_ROLES[Role.MEMBER]
    assert ORGANISATION_ROLES[Role.FINANCE] & {VIEW, PLAY, MANAGE_ALL} == {VIEW}
    assert words_for("toys.play") == "Play with toys of one's own"
    assert "Toys" in {str(group.label) for group in grouped(organisation_permissions())}
    with acting(platform()):
        admin = actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation)
    with acting(admin):
        role = create_role(admin, name="Watchers", permissions=["toys.view"])
        assert role.permissions == ["toys.view"]


def test_who_may_only_look_cannot_start_one(world: World) -> None:
    with acting(platform()):
        frank = actor_of(make_member(world.organisation, "frank", Role.FINANCE), world.organisation)
    with acting(frank), pytest.raises(Denied):
        permissions.may_submit(frank, KIND)


def test_a_colleague_does_not_see_it_an_administrator_does(
    world: World, bob: Client, dora: Client, charlie: Client
) -> None:
    monkey = wound(world)
    path = f"/toys/{monkey.pk}/"
    assert [client.get(path).status_code for client in (bob, dora, charlie)] == [404, 200, 404]
    assert [str(monkey.pk) in text(client, "/toys/") for client in (bob, dora, charlie)] == [False, True, False]


def test_it_is_in_the_sidebar_of_who_may_see_it(world: World, alice: Client) -> None:
    assert 'href="/toys/"' in text(alice, "/toys/")
    assert 'href="/toys/"' in text(alice, "/training/")


def test_staff_find_it_among_all_workloads(world: World, staff: Client) -> None:
    monkey = wound(world)
    assert "Toy" in text(staff, "/console/workloads/")
    assert "monkey" in text(staff, f"/console/workloads/{monkey.pk}/")


def test_the_api_names_its_kind(world: World, staff: Client) -> None:
    monkey = wound(world)
    assert staff.get(f"/api/v1/console/workloads/{monkey.pk}/").json()["kind"] == "toy"


def test_its_api_takes_what_every_start_asks(world: World, alice: Client) -> None:
    asked = {"name": "monkey", "image": str(world.image.pk), "package": world.package.pk}
    terms = {"preemptible": False, "cap_fen": 5_000, "tags": ["play"]}
    answer = alice.post("/api/v1/toys/", {**asked, **terms}, content_type="application/json")
    assert answer.status_code == 201
    with acting(world.actor):
        monkey = selectors.get(world.actor, answer.json()["id"])
        assert (monkey.tags, monkey.frozen_spec.preemptible, cap_limit(monkey.pk)) == (["play"], False, 5_000)


def test_and_refuses_it_as_every_kind_does(world: World, alice: Client) -> None:
    asked = {
        "name": "monkey",
        "image": str(world.image.pk),
        "package": 0,
        "also": [1] * 9,
        "cluster": "x",
        "cap_fen": 0,
    }
    answer = alice.post("/api/v1/toys/", asked, content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) == {"package", "also", "cluster", "cap_fen"}


def test_a_second_kind_of_its_name_is_refused(toy: KindRules) -> None:
    with pytest.raises(ImproperlyConfigured):
        kinds.register(toy)


def test_it_leaves_no_trace(toy: KindRules) -> None:
    kinds.withdraw(toy)
    try:
        with pytest.raises(kinds.UnknownKind):
            kinds.named(KIND)
        assert VIEW not in Permission.every()
        assert LINE not in Resource.every()
        assert VIEW not in ORGANISATION_ROLES[Role.ADMIN]
        with pytest.raises(ValueError, match="toys"):
            Permission("toys.view")
    finally:
        kinds.register(toy)


def test_its_workloads_are_counted_with_their_states(world: World) -> None:
    monkey = wound(world)
    with acting(world.actor):
        assert selectors.live_counts(world.actor, KIND)["queued"] == 1
        assert reload(monkey).status == Status.QUEUED
