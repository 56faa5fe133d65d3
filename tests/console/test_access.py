"""Who may open what: each role sees its own pages, members and strangers none."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.tenants.choices import PlatformRole
from tests.builders import World
from tests.console.conftest import staff
from tests.console.kit import page, text_of

PAGES = {
    "overview": {"finance", "business", "ops", "super"},
    "organisations": {"finance", "business", "super"},
    "organisation_new": {"business", "super"},
    "workloads": {"business", "ops", "super"},
    "nodes": {"ops", "super"},
    "packages": {"finance", "super"},
    "package_new": {"finance", "super"},
    "recharges": {"finance", "super"},
    "recharge_new": {"finance", "super"},
    "consumption": {"finance", "super"},
    "audit": {"super"},
    "audit_export": {"super"},
}


@pytest.mark.parametrize("role", list(PlatformRole))
def test_each_role_opens_its_own_pages_and_no_others(world: World, role: PlatformRole) -> None:
    client = staff(role)
    for name, roles in PAGES.items():
        expected = 200 if role.value in roles else 403
        assert client.get(page(name)).status_code == expected, name


@pytest.mark.parametrize("name", list(PAGES))
def test_a_member_of_an_organisation_is_refused(alice: Client, name: str) -> None:
    assert alice.get(page(name)).status_code == 403


@pytest.mark.parametrize("name", list(PAGES))
def test_a_stranger_is_sent_to_sign_in(client: Client, db: None, name: str) -> None:
    response = client.get(page(name))
    assert response.status_code == 302
    assert "/accounts/login/" in response["Location"]


def test_staff_without_an_organisation_listen_in_the_console_and_nowhere_else(finance: Client) -> None:
    """The portal's channel refuses them, and the page would say for ever that live updates are lost."""
    assert 'id="bell"' in text_of(finance.get(page("consumption")))
    assert 'data-live="user.' in text_of(finance.get(page("consumption")))
    assert 'data-live="user.' not in text_of(finance.get(reverse("account:profile")))


def test_the_sidebar_offers_only_what_the_role_may_open(ops: Client) -> None:
    text = text_of(ops.get(page("overview")))
    assert page("nodes") in text
    assert f'href="{page("audit")}"' not in text
    assert f'href="{page("packages")}"' not in text


@pytest.mark.parametrize(
    "name", ["organisation", "organisation_departments", "organisation_members", "organisation_quotas"]
)
def test_an_unknown_organisation_does_not_exist(root: Client, name: str) -> None:
    assert root.get(page(name, "00000000-0000-4000-8000-000000000000")).status_code == 404


@pytest.mark.parametrize("name", ["node", "workload"])
def test_an_unknown_row_does_not_exist(root: Client, name: str) -> None:
    assert root.get(page(name, "00000000-0000-4000-8000-000000000000")).status_code == 404


def test_an_unknown_package_or_recharge_does_not_exist(root: Client) -> None:
    assert root.get(page("package", 999_999)).status_code == 404
    assert root.get(page("recharge", 999_999)).status_code == 404
