"""The console's sidebar as each of the platform's roles has it."""

import re
from html import unescape

import pytest
from django.test import Client

from apps.tenants.choices import PlatformRole
from tests.builders import make_staff, signed_in
from tests.console.kit import page, text_of

# A list that is open beside the entry that opens it.
GROUP = re.compile(r'data-nav-group aria-expanded="(true|false)">.*?<span>([^<]+)</span>', re.S)
LINK = re.compile(r'<a href="([^"]+)" data-label="([^"]*)"( aria-current="page")?')


def sidebar(client: Client, name: str) -> str:
    return text_of(client.get(page(name))).split('<nav class="pl-nav"')[1].split("</nav>")[0]


def groups(html: str) -> dict[str, bool]:
    """The names of groups, and whether each is open."""
    return {unescape(label): opened == "true" for opened, label in GROUP.findall(html)}


def links(html: str) -> dict[str, str]:
    """Addresses by the names that stand around and before each page."""
    return {unescape(label): url for url, label, _here in LINK.findall(html)}


def here(html: str) -> list[str]:
    return [unescape(label) for _url, label, current in LINK.findall(html) if current]


@pytest.mark.django_db
def test_finance_pages_stand_in_groups_of_which_one_is_open() -> None:
    html = sidebar(signed_in(make_staff(PlatformRole.FINANCE)), "recharges")
    opened = groups(html)
    inside = ["Money in", "Use and bills", "Prices", "Control"]
    assert [name for name in opened if name in inside] == inside
    assert [name for name, is_open in opened.items() if is_open] == ["Finance", "Money in"]
    assert here(html) == ["Finance / Money in / Recharge"]
    assert links(html)["Finance / Prices / Discounts"] == page("discounts")


@pytest.mark.django_db
def test_no_group_has_more_entries_than_one_takes_in() -> None:
    found = links(sidebar(signed_in(make_staff()), "overview"))
    sizes: dict[str, int] = {}
    for label in found:
        group = label.rpartition(" / ")[0]
        sizes[group] = sizes.get(group, 0) + 1
    assert max(sizes.values()) <= 7, sizes


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "top"),
    [
        (PlatformRole.FINANCE, ["Tenants", "Finance"]),
        (PlatformRole.BUSINESS, ["Tenants", "Business"]),
        (PlatformRole.OPS, ["Business", "Resources"]),
        (PlatformRole.SUPER, ["Tenants", "Business", "Resources", "Finance", "Security"]),
    ],
)
def test_each_role_has_the_groups_that_it_may_open_something_of(role: PlatformRole, top: list[str]) -> None:
    html = sidebar(signed_in(make_staff(role)), "overview")
    client = signed_in(make_staff(role))
    assert [name for name in groups(html) if name in ("Tenants", "Business", "Resources", "Finance", "Security")] == top
    refused = [label for label, url in links(html).items() if client.get(url, follow=True).status_code != 200]
    assert refused == []
