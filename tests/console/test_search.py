"""Ctrl K in the console and the portal: what finds what, and in which order."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from apps.billing import services as billing
from apps.billing.models import Transfer
from apps.clusters.models import Accelerator
from apps.common.actor import Actor
from apps.common.finding.query import Query
from apps.common.finding.sources import MOST
from apps.common.scoping import acting
from apps.console.search.selectors import find
from apps.tenants.choices import Role
from apps.tenants.models import Organisation
from apps.workloads.models import Workload
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    platform,
    staff_actor,
    submit_workload,
    unique,
)

HIT = re.compile(r'role="option"[^>]*href="([^"]+)">.*?<span class="pl-cut">([^<]*)</span>')


@pytest.fixture
def everyone(world: World) -> Actor:
    """A platform administrator."""
    with acting(platform()):
        return staff_actor(make_staff())


def hits(actor: Actor, typed: str, kind: str) -> list[str]:
    """The titles of one kind, in their order."""
    with acting(actor):
        groups = {group.source.name: group.hits for group in find(actor, Query.of(typed))}
    return [hit.title for hit in groups.get(kind, ())]


def first(actor: Actor, typed: str) -> tuple[str, str]:
    """Kind and address of what Enter opens."""
    with acting(actor):
        groups = find(actor, Query.of(typed))
    return groups[0].source.name, groups[0].hits[0].url


def shown(client: Client, where: str, typed: str) -> list[tuple[str, str]]:
    response: Any = client.get(where, {"q": typed})
    assert response.status_code == 200
    return [(unescape(href), unescape(title)) for href, title in HIT.findall(response.content.decode())]


def organisation(name: str) -> Organisation:
    with acting(platform()):
        return make_organisation(name, balance_fen=0)


@pytest.mark.parametrize("typed", ["华东", "huadong", "hdyjy", "huad", "yanjiuyuan", "huadong yanjiu", "研究院 华东"])
def test_an_organisation_is_found_by_characters_pinyin_and_initials(everyone: Actor, typed: str) -> None:
    organisation("华东研究院")
    organisation("星海科技")
    assert hits(everyone, typed, "organisations") == ["华东研究院"]


def test_better_answers_stand_first(everyone: Actor) -> None:
    for name in ("iris", "Iris two", "The Iris", "Unirisable"):
        organisation(name)
    assert hits(everyone, "iris", "organisations") == ["iris", "Iris two", "The Iris", "Unirisable"]


def test_an_old_exact_answer_is_not_buried_under_new_ones(everyone: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.common.finding.sources.CANDIDATES", 3)
    organisation("vision")
    organisation("vision two")
    for number in range(5):
        organisation(f"the vision {number}")
    assert hits(everyone, "vision", "organisations")[:2] == ["vision", "vision two"]


def test_ones_own_stand_before_those_of_colleagues(world: World) -> None:
    with acting(world.actor) as actor:
        mine = submit_workload(world)
        Workload.objects.filter(pk=mine.pk).update(name="digits of mine")
    staff = Actor(
        user_id=world.alice.pk, label="x", organisation_id=None, permissions=platform().permissions, platform=True
    )
    assert hits(staff, "digits", "workloads") == ["digits of mine"]
    assert hits(actor, "digits", "workloads") == []  # the console's, not the portal's


def test_there_are_never_more_than_some_of_a_kind(everyone: Actor) -> None:
    for number in range(MOST + 3):
        organisation(f"vision {number}")
    newest_first = [f"vision {number}" for number in range(MOST + 2, 2, -1)]
    assert hits(everyone, "vision", "organisations") == newest_first


def test_a_ledger_number_leads_to_its_recharge(world: World, everyone: Actor) -> None:
    with acting(platform()):
        transfer = Transfer.objects.get(organisation=world.organisation)
    for typed in (f"T-{transfer.pk}", f"t{transfer.pk}", transfer.ref):
        assert first(everyone, typed) == ("recharges", f"/console/recharges/{transfer.pk}/")


def test_a_receipt_is_found_by_a_part_of_its_number(world: World, everyone: Actor) -> None:
    with acting(platform()) as actor:
        billing.top_up(
            actor,
            organisation_id=world.organisation.pk,
            amount_fen=100,
            reference="BANK-20261122-002",
            note="",
        )
    assert hits(everyone, "20261122", "recharges") == ["BANK-20261122-002"]
    assert hits(everyone, "t-999999999999999999", "recharges") == []


def test_people_are_found_by_each_of_their_names(world: World, everyone: Actor) -> None:
    with acting(platform()):
        type(world.alice).objects.filter(pk=world.alice.pk).update(name="王小明")
    for typed in ("王小", "wangxm", "wxm", world.alice.username, f"{world.alice.username}@example"):
        assert "王小明" in hits(everyone, typed, "people"), typed


def test_an_id_that_was_pasted_names_its_row(world: World, everyone: Actor) -> None:
    with acting(world.actor):
        workload = submit_workload(world)
    assert first(everyone, str(workload.pk)) == ("workloads", f"/console/workloads/{workload.pk}/")
    assert first(everyone, str(world.organisation.pk))[0] == "organisations"


def test_nodes_and_cards_are_found(world: World, everyone: Actor) -> None:
    with acting(platform()):
        serial = unique("GPU")
        Accelerator.objects.create(
            node=world.node, index=0, uuid=serial, vendor="nvidia", model="H100-80G", memory_mib=81_920
        )
    page = f"/console/nodes/{world.node.pk}/"
    assert first(everyone, world.node.name) == ("nodes", page)
    assert first(everyone, serial) == ("cards", page)
    assert hits(everyone, "h100", "cards") == ["H100-80G #0"]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("typed", ["quota", "配额", "peie", "pe"])
def test_pages_are_found_by_their_names_in_both_languages(world: World, language: str, typed: str) -> None:
    with acting(platform()):
        dora = make_member(world.organisation, "dora", Role.ADMIN)
    with acting(actor_of(dora, world.organisation)) as actor, override(language):
        found = {group.source.name: group.hits for group in find(actor, Query.of(typed))}
    assert "/organisation/quotas/" in [hit.url for hit in found["pages"]]


@pytest.mark.parametrize("typed", ["kept in the bin", "bin"])
def test_a_single_option_of_the_settings_is_found(everyone: Actor, typed: str) -> None:
    with acting(everyone):
        groups = {group.source.name: group.hits for group in find(everyone, Query.of(typed))}
    assert "/console/settings/options/#id_bin_days" in [hit.url for hit in groups["settings"]]


def test_every_option_leads_to_its_field(root: Client) -> None:
    pages: dict[str, str] = {}
    for typed in ("e", "a", "o", "s", "i"):
        for href, _title in shown(root, "/console/search/", typed):
            page, _hash, field = href.partition("#")
            if field:
                pages.setdefault(page, root.get(page).content.decode())
                assert f'id="{field}"' in pages[page], href
    assert pages


def test_what_is_typed_is_text_and_nothing_else(root: Client) -> None:
    for typed in ("%", "_", "\\", "'", '"><script>', "(", "[", "*", " ", "", "x" * 5000, "a b c d e f g h"):
        response = root.get("/console/search/", {"q": typed})
        assert response.status_code == 200, typed
        assert b"<script>" not in response.content
    assert shown(root, "/console/search/", "%") == []


def test_nobody_without_the_right_asks_the_console(alice: Client) -> None:
    assert alice.get("/console/search/", {"q": "a"}).status_code == 403
    assert alice.get("/search/", {"q": "overview"}).status_code == 200
    assert alice.post("/search/", {"q": "overview"}).status_code == 405


def test_the_statements_that_a_search_needs_do_not_grow_with_what_it_finds(
    everyone: Actor, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        organisation(f"lab {number}")
    with acting(everyone), django_assert_max_num_queries(45):
        find(everyone, Query.of("lab"))
