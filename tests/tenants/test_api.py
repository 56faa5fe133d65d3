"""/api/v1/me/: the person behind the request."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import Resource
from apps.tenants.models import User
from tests.builders import make_member, make_organisation, make_user, platform, signed_in

pytestmark = pytest.mark.django_db

ME = "/api/v1/me/"


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


def test_a_stranger_gets_a_problem_in_words(client: Client) -> None:
    response = client.get(ME)
    assert response.status_code in (401, 403)
    assert response["Content-Type"] == "application/problem+json"


def test_it_says_who_one_is_and_where_one_belongs(alice: User) -> None:
    body = signed_in(alice).get(ME).json()
    assert (body["username"], body["email"]) == (alice.username, alice.email)
    assert [each["role"] for each in body["memberships"]] == ["member"]
    assert body["organisation_id"] == body["memberships"][0]["organisation_id"]
    assert [each["resource"] for each in body["limits"]] == [resource.value for resource in Resource.every()]


def test_a_person_without_an_organisation_is_nobodys_member() -> None:
    with acting(platform()):
        charlie = make_user("charlie")
    body = signed_in(charlie).get(ME).json()
    assert (body["organisation_id"], body["memberships"], body["limits"]) == (None, [], [])


def test_what_is_left_out_stays(alice: User) -> None:
    body = signed_in(alice).patch(ME, {"name": "Lin"}, content_type="application/json").json()
    assert (body["name"], body["email"]) == ("Lin", alice.email)


@pytest.mark.parametrize(
    ("field", "value"), [("email", "nowhere"), ("language", "tlh"), ("name", "x" * 81), ("email", "TAKEN")]
)
def test_bad_input_names_the_field_and_changes_nothing(alice: User, field: str, value: str) -> None:
    if value == "TAKEN":
        with acting(platform()):
            value = make_user("bob").email
    response = signed_in(alice).patch(ME, {field: value}, content_type="application/json")
    assert response.status_code == 400
    assert field in response.json()["fields"]
    before = (alice.name, alice.email, alice.language)
    alice.refresh_from_db()
    assert (alice.name, alice.email, alice.language) == before
