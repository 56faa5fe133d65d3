"""Passwords that somebody else has given: replaced by their person before anything else opens."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants import services
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from apps.tenants.services import Person, accounts
from tests.builders import PASSWORD, make_member, make_organisation, make_staff, platform, staff_actor, unique

pytestmark = pytest.mark.django_db
LOGIN, CHANGE, CHOSEN = "/accounts/login/", "/accounts/password/change/", "a-new-battery-7"


@pytest.fixture
def lab() -> Organisation:
    with acting(platform()):
        return make_organisation()


def newcomer(lab: Organisation) -> tuple[User, str]:
    """A member whose password was generated."""
    with acting(platform()):
        user, password = services.create_user(platform(), person=Person(unique("lin")))
        services.add_member(platform(), organisation_id=lab.pk, user=user, role=Role.MEMBER)
    assert password is not None
    return user, password


def sign_in(user: User, password: str) -> Client:
    client = Client()
    assert client.post(LOGIN, {"login": user.username, "password": password}).status_code == 302
    return client


def change(client: Client, old: str, new: str = CHOSEN) -> str:
    answer = client.post(CHANGE, {"oldpassword": old, "password1": new, "password2": new})
    return answer.headers.get("Location", "")


def test_nothing_opens_until_the_person_has_chosen_a_password(lab: Organisation) -> None:
    user, password = newcomer(lab)
    client = sign_in(user, password)
    for path in ("/", "/training/"):
        assert client.get(path, follow=True).redirect_chain[-1][0] == CHANGE
    fragment = client.get("/training/", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["HX-Redirect"]) == (204, CHANGE)
    refused = client.get("/api/v1/training/runs/")
    assert (refused.status_code, refused.json()["code"]) == (403, "password_change_required")
    assert client.get(CHANGE).status_code == 200
    assert change(client, password) == "/"
    assert client.get("/training/").status_code == 200
    assert client.get("/api/v1/training/runs/").status_code == 200


def test_the_given_password_is_not_chosen_again(lab: Organisation) -> None:
    user, password = newcomer(lab)
    client = sign_in(user, password)
    assert change(client, password, password) == ""
    assert client.get("/training/").status_code == 302


def test_a_reset_by_staff_is_a_given_password_again(lab: Organisation) -> None:
    with acting(platform()):
        user, staff = make_member(lab), make_staff()
        assert sign_in(user, PASSWORD).get("/training/").status_code == 200
        given = accounts.reset_password(staff_actor(staff), user_id=user.pk)
    client = sign_in(user, given)
    assert client.get("/training/").headers["Location"] == CHANGE
    assert change(client, given) == "/"
    assert client.get("/training/").status_code == 200


def test_who_was_registered_with_a_password_of_their_own_is_let_in(lab: Organisation) -> None:
    with acting(platform()):
        user = make_member(lab)
    assert sign_in(user, PASSWORD).get("/training/").status_code == 200
