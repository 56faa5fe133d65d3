"""The account's pages: one's own profile, sign-ins, organisations and limits."""

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.tenants import quotas, services
from apps.tenants.choices import OrganisationStatus, PlatformRole, Resource, Role
from apps.tenants.models import User
from tests.builders import make_member, make_organisation, make_user, platform, signed_in

pytestmark = pytest.mark.django_db

PROFILE = "/account/"


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


def profile_of(user: User, **changed: str) -> dict[str, str]:
    return {"name": user.name, "email": user.email, "language": user.language, **changed}


def updates_of(user: User) -> int:
    with acting(platform()):
        return Entry.objects.filter(action="user.updated", target_id=str(user.pk)).count()


@pytest.mark.parametrize("name", ["profile", "security", "organisations"])
def test_a_stranger_is_asked_to_sign_in(client: Client, name: str) -> None:
    response = client.get(reverse(f"account:{name}"))
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("name", ["profile", "security", "organisations"])
def test_a_person_without_an_organisation_has_an_account_all_the_same(name: str) -> None:
    with acting(platform()):
        charlie = make_user("charlie")
    assert signed_in(charlie).get(reverse(f"account:{name}")).status_code == 200


def test_the_profile_shows_what_is_there(alice: User) -> None:
    page = signed_in(alice).get(PROFILE).content.decode()
    assert alice.name in page
    assert alice.email in page


def test_a_change_is_saved_said_and_written_down(alice: User) -> None:
    client = signed_in(alice)
    response = client.post(PROFILE, profile_of(alice, name="Lin Xiao"), follow=True)
    assert "Your profile has been saved." in response.content.decode()
    alice.refresh_from_db()
    assert alice.name == "Lin Xiao"
    assert updates_of(alice) == 1


def test_a_chosen_language_holds_from_the_next_page_on(alice: User) -> None:
    client = signed_in(alice)
    response = client.post(PROFILE, profile_of(alice, language="zh-hans"))
    assert response.cookies[settings.LANGUAGE_COOKIE_NAME].value == "zh-hans"
    assert client.get(PROFILE).headers["Content-Language"] == "zh-hans"
    response = client.post(PROFILE, profile_of(alice, language=""))
    assert response.cookies[settings.LANGUAGE_COOKIE_NAME].value == ""


@pytest.mark.parametrize(
    ("field", "value"), [("email", "not an address"), ("language", "tlh"), ("name", "x" * 81), ("email", "TAKEN")]
)
def test_bad_input_is_refused_beside_the_field_and_kept(alice: User, field: str, value: str) -> None:
    if value == "TAKEN":
        with acting(platform()):
            value = make_user("bob").email
    response = signed_in(alice).post(PROFILE, profile_of(alice, **{"name": "Typed", field: value}))
    assert response.status_code == 422
    assert response.context["form"].errors.keys() == {field}
    assert f'id="id_{field}_error"' in response.content.decode()
    assert value in response.content.decode() or field == "language"
    before = alice.name
    alice.refresh_from_db()
    assert alice.name == before
    assert updates_of(alice) == 0


def test_leaving_a_field_checks_and_saves_nothing(alice: User) -> None:
    response = signed_in(alice).post(
        PROFILE, profile_of(alice, name="Typed", email="nowhere"), headers={"X-Validate": "email"}
    )
    assert "This is not an e-mail address." in response.content.decode()
    alice.refresh_from_db()
    assert alice.name != "Typed"


def test_signing_out_elsewhere_leaves_this_sign_in_and_other_people_alone(alice: User) -> None:
    with acting(platform()):
        bob = make_user("bob")
    here, there, colleague = signed_in(alice), signed_in(alice), signed_in(bob)
    assert there.get(PROFILE).status_code == 200
    response = here.post(reverse("account:sign_out_others"), follow=True)
    assert "1 other sign-in has been ended." in response.content.decode()
    assert here.get(PROFILE).status_code == 200
    assert there.get(PROFILE).status_code == 302
    assert colleague.get(PROFILE).status_code == 200
    with acting(platform()):
        entry = Entry.objects.get(action="user.sessions_ended", target_id=str(alice.pk))
    assert entry.after == {"sessions": 1}
    assert not Session.objects.filter(session_key=there.session.session_key).exists()


def test_a_get_signs_nobody_out(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    assert here.get(reverse("account:sign_out_others")).status_code == 405
    assert there.get(PROFILE).status_code == 200


def test_memberships_roles_and_the_frozen_ones_are_listed(alice: User) -> None:
    with acting(platform()) as staff:
        other = make_organisation("Imaging Centre")
        services.add_member(staff, organisation_id=other.pk, user=alice, role=Role.FINANCE, priority=5)
        services.set_organisation_status(staff, organisation_id=other.pk, status=OrganisationStatus.FROZEN)
        services.assign_platform_role(staff, user=alice, role=PlatformRole.OPS)
    page = signed_in(alice).get(reverse("account:organisations")).content.decode()
    for words in ("Imaging Centre", "Finance", "Frozen", "Operations admin", "Work here", "working here"):
        assert words in page


def test_the_limit_that_counts_is_shown(alice: User) -> None:
    with acting(platform()) as staff:
        membership = alice.memberships.get()
        quotas.set_limit(staff, organisation_id=membership.organisation_id, resource=Resource.MEMORY_MIB, limit=16384)
    page = signed_in(alice).get(reverse("account:organisations")).content.decode()
    assert "0 MiB of 16 GiB" in page
    assert "no limit" in page


def test_one_switches_to_where_one_belongs_and_nowhere_else(alice: User) -> None:
    with acting(platform()) as staff:
        mine, strange = make_organisation(), make_organisation()
        services.add_member(staff, organisation_id=mine.pk, user=alice)
    client = signed_in(alice)
    assert client.post("/organisation/", {"organisation": str(mine.pk)}).status_code == 302
    assert client.post("/organisation/", {"organisation": str(strange.pk)}).status_code == 404
    assert client.post("/organisation/", {"organisation": "nonsense"}).status_code == 404
    alice.refresh_from_db()
    assert alice.current_organisation_id == mine.pk
