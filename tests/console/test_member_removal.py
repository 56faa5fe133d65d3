"""Staff end a membership: what the person runs goes on or is stopped, and the organisation is told."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import DefinedPlatformRole, Membership, PlatformAssignment
from apps.training.models import Run
from apps.workloads.choices import Status
from tests.builders import World, make_member, make_organisation, make_staff, platform, signed_in
from tests.console.kit import last_entry, messages_of, page, post, text_of
from tests.portal import kit
from tests.training.kit import submit


@pytest.fixture
def run(world: World) -> Run:
    """Alice's, running."""
    return kit.start(world, submit(world, name="alice-runs"))


@pytest.fixture
def clerk(db: None) -> Client:
    """Staff with a role of the platform's own that manages tenants and no workloads."""
    with acting(platform()):
        user = make_staff()
        rights = ["platform.tenants.view", "platform.tenants.manage"]
        defined = DefinedPlatformRole.objects.create(name="Clerk", permissions=rights)
        PlatformAssignment.objects.filter(user=user).delete()
        PlatformAssignment.objects.create(user=user, defined=defined)
        return signed_in(user)


def is_member(world: World) -> bool:
    with acting(platform()):
        return Membership.objects.filter(organisation=world.organisation, user=world.alice).exists()


def status_of(run: Run) -> str:
    with acting(platform()):
        run.workload.refresh_from_db()
    return str(run.workload.status)


def remove(client: Client, world: World, running: str = "keep", **given: object) -> object:
    address = page("organisation_member_remove", world.organisation.pk, world.alice.pk)
    return post(client, address, running=running, **given)


def test_what_the_person_runs_goes_on_unless_it_is_to_be_stopped(business: Client, world: World, run: Run) -> None:
    said = text_of(business.get(page("organisation_member", world.organisation.pk, world.alice.pk)))
    assert "1 workload of theirs has not ended" in said
    assert "no longer a member" in messages_of(remove(business, world, follow=True))[0]
    assert (is_member(world), status_of(run)) == (False, Status.RUNNING)
    entry = last_entry("member.removed")
    assert (entry.target_label, entry.organisation_id) == (world.alice.username, world.organisation.pk)


def test_it_is_stopped_with_the_membership_where_staff_say_so(business: Client, world: World, run: Run) -> None:
    with acting(platform()):
        ada = make_member(world.organisation, "ada", Role.ADMIN)
    assert "1 workload is being stopped" in messages_of(remove(business, world, "stop", follow=True))[0]
    assert (is_member(world), status_of(run)) == (False, Status.STOPPING)
    with acting(platform()):
        assert Notice.objects.filter(user=ada, kind="member.removed").exists()


def test_who_may_not_stop_work_is_not_offered_it_and_removes_nobody_with_it(
    clerk: Client, world: World, run: Run
) -> None:
    said = text_of(clerk.get(page("organisation_member", world.organisation.pk, world.alice.pk)))
    assert ("Let run what has started" in said, "Stop it now" in said) == (True, False)
    assert remove(clerk, world, "stop").status_code == 403  # type: ignore[attr-defined]
    assert (is_member(world), status_of(run)) == (True, Status.RUNNING)
    remove(clerk, world)
    assert (is_member(world), status_of(run)) == (False, Status.RUNNING)


def test_the_last_administrator_is_not_removed(business: Client, world: World) -> None:
    with acting(platform()):
        Membership.objects.filter(organisation=world.organisation).exclude(user=world.alice).delete()
        Membership.objects.filter(user=world.alice).update(role=Role.ADMIN)
    assert "last administrator" in messages_of(remove(business, world, follow=True))[0]
    assert is_member(world)


def test_who_may_only_look_removes_nobody(finance: Client, world: World) -> None:
    said = text_of(finance.get(page("organisation_member", world.organisation.pk, world.alice.pk)))
    assert "Remove member" not in said
    assert remove(finance, world).status_code == 403  # type: ignore[attr-defined]
    assert is_member(world)


def test_the_api_removes_a_member_of_that_organisation_alone(business: Client, world: World, run: Run) -> None:
    with acting(platform()):
        other = make_organisation("Other")
    path = "/api/v1/console/organisations/{}/members/{}/"
    assert business.delete(path.format(other.pk, world.alice.pk)).status_code == 404
    assert is_member(world)
    mine = path.format(world.organisation.pk, world.alice.pk)
    assert business.delete(f"{mine}?stop=true").status_code == 204
    assert (is_member(world), status_of(run)) == (False, Status.STOPPING)
    assert business.delete(mine).status_code == 404
