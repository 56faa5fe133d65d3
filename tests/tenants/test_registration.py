"""Registration: closed unless opened, and what a new person gets."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Membership, Quota, User
from apps.tenants.registration import RegistrationSettings, grant_own_organisation
from tests.builders import PASSWORD, make_organisation, platform

SIGN_UP = "/accounts/signup/"


@pytest.fixture(autouse=True)
def _scope(db: None) -> Iterator[None]:
    with acting(platform()):
        yield


def open_with(**values: Any) -> None:
    settings.put(platform(), RegistrationSettings(open=True, **values))


def register(email: str = "new@example.com", name: str = "newcomer") -> Any:
    given = {"username": name, "email": email, "password1": PASSWORD, "password2": PASSWORD}
    return Client().post(SIGN_UP, given)


def test_it_is_closed_at_first() -> None:
    response = register()
    assert "Registration is closed" in response.content.decode()
    assert not User.objects.filter(username="newcomer").exists()


def test_a_new_person_administers_an_organisation_of_their_own_within_its_quota() -> None:
    open_with(runs=3, gpu_milli=None)
    assert register().status_code == 302
    member = Membership.objects.get(user__username="newcomer")
    assert member.role == Role.ADMIN
    limits = dict(Quota.objects.filter(organisation=member.organisation).values_list("resource", "limit"))
    assert limits[Resource.RUNS] == 3
    assert Resource.GPU_MILLI not in limits


def test_without_an_organisation_of_their_own_people_wait_for_an_invitation() -> None:
    open_with(own_organisation=False)
    assert register().status_code == 302
    assert not Membership.objects.filter(user__username="newcomer").exists()


def test_an_address_has_to_be_proven_first_where_it_decides() -> None:
    open_with(domains=("uni.example",))
    assert "Only addresses of uni.example" in register().content.decode()
    assert register("new@uni.example").status_code == 302
    user = User.objects.get(username="newcomer")
    assert not Membership.objects.filter(user=user).exists()
    assert mail.outbox[0].to == ["new@uni.example"]
    EmailAddress.objects.filter(user=user).update(verified=True)
    assert grant_own_organisation(user) is not None
    assert grant_own_organisation(user) is None, "one organisation, however often it is asked"


def test_a_name_that_is_taken_gets_the_accounts_number() -> None:
    open_with()
    make_organisation("Newcomer", balance_fen=0)
    register()
    user = User.objects.get(username="newcomer")
    assert Membership.objects.get(user=user).organisation.name == f"newcomer {user.pk}"


@pytest.mark.parametrize("values", [{"domains": ("not a domain",)}, {"runs": -1}])
def test_odd_settings_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        open_with(**values)
