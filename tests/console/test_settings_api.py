"""The settings over the API: the same rules as the pages; secrets are written and never read."""

from typing import Any

import pytest
from django.test import Client

from apps.envs.policy import EnvironmentSettings
from apps.notifications.settings import MailSecurity, MailSettings
from apps.tenants import settings as store
from apps.tenants.registration import RegistrationSettings
from tests.console.kit import last_entry

pytestmark = pytest.mark.django_db

API = "/api/v1/console/settings/"
GROUPS = ("mail", "sms", "branding", "registration", "environments", "review", "queue")


def patch(client: Client, group: str, **values: Any) -> Any:
    return client.patch(f"{API}{group}/", values, content_type="application/json")


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_is_read_by_those_who_may_and_nobody_else(
    root: Client, ops: Client, alice: Client, group: str
) -> None:
    assert root.get(f"{API}{group}/").status_code == 200
    for client in (ops, alice):
        assert client.get(f"{API}{group}/").status_code == 403
        assert patch(client, group).status_code == 403


@pytest.mark.parametrize("group", GROUPS)
def test_what_was_read_can_be_written_back(root: Client, group: str) -> None:
    now = root.get(f"{API}{group}/").json()
    again = patch(root, group, **now)
    assert (again.status_code, again.json()) == (200, now)


def test_a_secret_is_written_and_never_read(root: Client) -> None:
    answer = patch(root, "mail", host="mail.example.org", from_address="a@b.example", password="open sesame")
    assert answer.json()["password_set"] is True
    assert "sesame" not in answer.content.decode()
    assert store.get(MailSettings).password == "open sesame"
    patch(root, "mail", port=25)
    kept = store.get(MailSettings)
    assert (kept.password, kept.port, kept.host) == ("open sesame", 25, "mail.example.org")
    assert last_entry("settings.changed").after == {"port": 25}
    patch(root, "mail", password="")
    assert store.get(MailSettings).password == ""


def test_types_come_through(root: Client) -> None:
    patch(root, "mail", security="tls", host="mail.example.org", from_address="a@b.example")
    patch(root, "registration", domains=["example.edu"], runs=None)
    patch(root, "environments", durations_days=[1, 30], bin_days=7)
    assert store.get(MailSettings).security is MailSecurity.TLS
    assert store.get(RegistrationSettings).domains == ("example.edu",)
    assert store.get(RegistrationSettings).runs is None
    assert store.get(EnvironmentSettings).durations_days == (1, 30)


@pytest.mark.parametrize(
    ("group", "values", "field"),
    [
        ("mail", {"port": 0}, "port"),
        ("mail", {"host": "mail"}, "from_address"),
        ("mail", {"security": "rot13"}, "security"),
        ("sms", {"on": True}, "url"),
        ("registration", {"domains": ["not a domain"]}, "domains"),
        ("environments", {"durations_days": []}, "durations_days"),
        ("branding", {"portal_name": "x" * 41}, "portal_name"),
    ],
)
def test_the_rules_are_those_of_the_pages(root: Client, group: str, values: dict[str, Any], field: str) -> None:
    answer = patch(root, group, **values)
    assert answer.status_code == 400
    assert field in answer.json()["fields"]


def test_a_test_says_what_happened(root: Client) -> None:
    patch(root, "mail", host="127.0.0.1", port=9, security="none", from_address="a@b.example")
    answer = root.post(f"{API}mail/test/").json()
    assert answer["worked"] is False
    assert answer["detail"]
