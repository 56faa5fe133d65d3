"""Ctrl K finds what one may see and nothing else: whatever is found opens, and nothing of a stranger's is found."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.console.search.collected import SOURCES
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Membership
from apps.tenants.services.roles import create_role
from tests.architecture.scene import SECRET, Scene, scene, standing_scene
from tests.builders import actor_of, make_member, make_staff, make_user, platform, signed_in

__all__ = ["scene", "standing_scene"]  # the fixtures

PORTAL, CONSOLE = "/search/", "/console/search/"
KIND, HREF = re.compile(r'data-kind="(\w+)"'), re.compile(r'href="([^"]+)"')
# What the victim called by the secret, in the portal and in the console.
HERS = {"runs", "environments", "volumes", "datasets", "images", "departments", "roles", "invoices", "vouchers"}
OF_WORK, OF_STORAGE = {"environments", "workloads"}, {"volumes", "datasets"}
OF_MONEY = {"invoices", "vouchers"}


def ask(client: Client, where: str, typed: str) -> Any:
    return client.get(where, {"q": typed})


def kinds(response: Any) -> set[str]:
    return set(KIND.findall(response.content.decode())) if response.status_code == 200 else set()


def links(response: Any) -> list[str]:
    return [href.replace("&amp;", "&") for href in HREF.findall(response.content.decode())]


def everything_opens(client: Client, where: str) -> set[str]:
    """The kinds found by the secret, once every link has been opened."""
    response = ask(client, where, SECRET)
    for href in links(response):
        opened = client.get(href)
        assert opened.status_code == 200, f"found {href}, which answers {opened.status_code}"
    return kinds(response)


@pytest.mark.parametrize("where", [PORTAL, CONSOLE])
@pytest.mark.parametrize("who", ["stranger", "ex-member", "anonymous"])
@pytest.mark.parametrize("typed", [SECRET, SECRET.lower()[:5], "zebra notebook"])
def test_outsiders_find_nothing_of_it(scene: Scene, who: str, where: str, typed: str) -> None:
    response = ask(scene.clients[who], where, typed)
    assert kinds(response) == set()
    # A refusal is a page, which names its own address.
    assert response.status_code != 200 or SECRET not in response.content.decode()


@pytest.mark.parametrize("who", ["stranger", "ex-member"])
def test_ids_and_numbers_of_others_find_nothing(scene: Scene, who: str) -> None:
    named = ("run_id", "workload_id", "environment_id", "volume_id", "invoice_id", "transfer_id", "out_trade_no")
    for name in (*named, "prepaid_order_id"):
        value = str(scene.values[name])
        response = ask(scene.clients[who], PORTAL, value)
        found = kinds(response)
        # A short number may stand in a colleague's name or address, or in a payment's reference, of their own.
        own = {"members", "recharges"} if value.isdigit() else {"members"}
        assert found <= own, f"{who} found {found} by {name}"
        assert not re.search(rf"\bT-{scene.values['transfer_id']}\b", response.content.decode())
        assert SECRET not in response.content.decode() if response.status_code == 200 else not found
    assert kinds(ask(scene.clients["owner"], PORTAL, str(scene.values["run_id"]))) == {"runs"}


def test_whoever_manages_the_organisation_finds_all_that_is_hers(scene: Scene) -> None:
    assert everything_opens(scene.clients["owner"], PORTAL) >= HERS
    assert kinds(ask(scene.clients["owner"], CONSOLE, SECRET)) == set()


@pytest.mark.parametrize("role", [Role.MEMBER, Role.FINANCE])
def test_colleagues_find_what_their_role_opens(scene: Scene, role: Role) -> None:
    with acting(platform()):
        colleague = make_member(scene.world.organisation, "bob", role)
    found = everything_opens(signed_in(colleague), PORTAL)
    assert not found & {"departments", "roles", "members", "runs", "environments", "volumes"}
    assert bool(found & OF_MONEY) == (role == Role.FINANCE)


def test_an_own_role_finds_only_what_it_allows(scene: Scene) -> None:
    organisation = scene.world.organisation
    with acting(actor_of(scene.world.alice, organisation)) as actor:
        role = create_role(actor, name="Storekeeper", permissions=["storage.view", "storage.manage_all"])
    with acting(platform()):
        keeper = make_member(organisation, "keeper")
        Membership.objects.filter(user=keeper).update(own_role=role)
    assert everything_opens(signed_in(keeper), PORTAL) == OF_STORAGE


def test_people_of_no_organisation_find_pages_only(scene: Scene) -> None:
    with acting(platform()):
        alone = signed_in(make_user("alone"))
    assert kinds(ask(alone, PORTAL, SECRET)) == set()
    assert kinds(ask(alone, PORTAL, "account")) == {"pages"}


@pytest.mark.parametrize(
    ("role", "finds", "not_"),
    [
        (PlatformRole.SUPER, OF_WORK | OF_STORAGE | OF_MONEY | {"organisations", "images"}, set()),
        (PlatformRole.FINANCE, OF_MONEY | {"organisations"}, OF_WORK | OF_STORAGE | {"images"}),
        (PlatformRole.BUSINESS, OF_WORK | OF_STORAGE | {"organisations", "images"}, OF_MONEY),
        (PlatformRole.OPS, OF_WORK | OF_STORAGE | {"images"}, OF_MONEY | {"organisations"}),
    ],
)
def test_staff_find_what_their_role_opens(scene: Scene, role: PlatformRole, finds: set[str], not_: set[str]) -> None:
    with acting(platform()):
        client = signed_in(make_staff(role))
    found = everything_opens(client, CONSOLE)
    assert found >= finds
    assert not found & not_


def test_each_kind_is_offered_to_those_with_the_right_only() -> None:
    """No source forgets to name a right."""
    vague = [source.name for source in SOURCES if not (source.portal or source.console or source.for_all)]
    assert vague == []
    assert [source.name for source in SOURCES if source.for_all] == ["pages"]
    assert len({source.name for source in SOURCES}) == len(SOURCES)
