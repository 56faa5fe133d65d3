"""Organisations: making, freezing, their people and their limits."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.tenants.choices import OrganisationStatus, Resource, Role
from apps.tenants.models import Membership, Organisation, Quota, User
from tests.builders import World, make_organisation, make_user, platform
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of


def test_the_list_finds_by_name_and_says_the_balance_to_finance_only(
    finance: Client, business: Client, world: World
) -> None:
    with acting(platform()):
        make_organisation("Other house", balance_fen=0)
    url = f"{page('organisations')}?q={world.organisation.name}"
    text = text_of(finance.get(url))
    assert "1,000.00" in text
    assert "Other house" not in text
    assert "1,000.00" not in text_of(business.get(url))


def test_a_new_organisation_exists_at_once_and_is_logged(business: Client) -> None:
    response = post(business, page("organisation_new"), follow=True, name="Vision  group", slug="")
    assert response.redirect_chain
    assert "Vision group exists" in messages_of(response)[0]
    entry = last_entry("organisation.created")
    assert entry.after == {"name": "Vision group", "slug": "vision-group"}


def test_a_name_that_is_taken_is_refused_beside_the_field(business: Client, world: World) -> None:
    response = post(business, page("organisation_new"), name=world.organisation.name.upper(), slug="")
    assert response.status_code == 422
    assert response.context["form"].errors["name"] == ["Another organisation has this name."]
    assert world.organisation.name.upper() in text_of(response)


def test_freezing_asks_once_and_is_logged_with_before_and_after(business: Client, world: World) -> None:
    pk = world.organisation.pk
    post(business, page("organisation_freeze", pk))
    with acting(platform()):
        assert Organisation.objects.get(pk=pk).status == OrganisationStatus.FROZEN
    entry = last_entry("organisation.frozen")
    assert (entry.before, entry.after) == ({"status": "active"}, {"status": "frozen"})
    again = post(business, page("organisation_freeze", pk), follow=True)
    assert messages_of(again)[-1] == "The organisation is in this state already."
    assert count_entries("organisation.frozen") == 1
    assert "may work again" in messages_of(post(business, page("organisation_unfreeze", pk), follow=True))[-1]


def test_finance_may_look_and_not_freeze(finance: Client, world: World) -> None:
    assert finance.get(page("organisation", world.organisation.pk)).status_code == 200
    assert post(finance, page("organisation_freeze", world.organisation.pk)).status_code == 403
    assert "Freeze" not in text_of(finance.get(page("organisation", world.organisation.pk)))


def new_member(world: World, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "who": "new",
        "username": "bob",
        "name": "Bob",
        "email": "",
        "role": "admin",
        "priority": 5,
    }
    return {**data, **changes}


def test_the_password_of_a_new_person_is_shown_once_and_works(business: Client, world: World) -> None:
    response = post(business, page("organisation_member_new", world.organisation.pk), **new_member(world))
    assert response["Cache-Control"] == "no-store"
    found = re.search(r'id="password">([^<]+)<', text_of(response))
    assert found is not None
    user = User.objects.get(username="bob")
    assert user.check_password(found[1])
    with acting(platform()):
        membership = Membership.objects.get(user=user)
    assert (membership.role, membership.priority) == (Role.ADMIN, 5)
    listed = text_of(business.get(page("organisation_members", world.organisation.pk)))
    assert "bob" in listed
    assert found[1] not in listed
    assert found[1] not in str(last_entry("user.created").after)


def test_a_user_name_that_is_taken_makes_neither_account_nor_membership(business: Client, world: World) -> None:
    response = post(
        business,
        page("organisation_member_new", world.organisation.pk),
        **new_member(world, username=world.alice.username),
    )
    assert response.status_code == 422
    assert "username" in response.context["form"].errors
    with acting(platform()):
        assert Membership.objects.filter(organisation=world.organisation).count() == 1


@pytest.mark.parametrize("wanted", ["username", "email"])
def test_somebody_with_an_account_joins_by_user_name_or_mail(business: Client, world: World, wanted: str) -> None:
    with acting(platform()):
        bob = make_user("bob")
    data = new_member(world, who="existing", username=getattr(bob, wanted), role="member", priority=2)
    response = post(business, page("organisation_member_new", world.organisation.pk), follow=True, **data)
    assert response.redirect_chain
    with acting(platform()):
        assert Membership.objects.get(user=bob).priority == 2
    assert last_entry("member.added").after == {"role": "member", "priority": 2}


def test_an_unknown_account_is_named_beside_the_field(business: Client, world: World) -> None:
    data = new_member(world, who="existing", username="nobody")
    response = post(business, page("organisation_member_new", world.organisation.pk), **data)
    assert response.context["form"].errors["username"] == ["There is no account with this user name or e-mail."]


def limits_of(world: World) -> dict[str, int | None]:
    with acting(platform()):
        rows = Quota.objects.filter(organisation=world.organisation, user=None, department=None)
        return dict(rows.values_list("resource", "limit"))


def test_limits_are_typed_in_peoples_units_and_logged_only_where_they_change(business: Client, world: World) -> None:
    url = page("organisation_quotas", world.organisation.pk)
    given = {"cpu_milli": "2.5", "memory_mib": "16", "gpu_milli": "", "runs": "3"}
    assert messages_of(post(business, url, follow=True, **given)) == ["3 limits were set."]
    assert limits_of(world) == {Resource.CPU_MILLI: 2500, Resource.MEMORY_MIB: 16384, Resource.RUNS: 3}
    assert messages_of(post(business, url, follow=True, **{**given, "runs": ""})) == ["1 limit was set."]
    assert limits_of(world)[Resource.RUNS] is None
    assert count_entries("quota.limited") == 4


@pytest.mark.parametrize("wrong", ["-1", "many", "1e400", "NaN"])
def test_a_limit_that_is_no_amount_is_refused_beside_its_field(business: Client, world: World, wrong: str) -> None:
    url = page("organisation_quotas", world.organisation.pk)
    response = post(business, url, cpu_milli=wrong, memory_mib="16", gpu_milli="", runs="")
    assert response.status_code == 422
    assert "cpu_milli" in response.context["form"].errors
    assert limits_of(world) == {}


def test_finance_reads_the_limits_and_sets_none(finance: Client, world: World) -> None:
    url = page("organisation_quotas", world.organisation.pk)
    assert finance.get(url).status_code == 200
    assert post(finance, url, runs="1").status_code == 403
    assert limits_of(world) == {}


def test_suggestions_complete_a_name(finance: Client, world: World) -> None:
    response = finance.get(page("organisation_suggestions"), {"organisation": world.organisation.name[:5]})
    assert f'value="{world.organisation.name}"' in text_of(response)
