"""The wallet's page: what there is, where it came from, how long it lasts, what arrears mean."""

from datetime import timedelta

import pytest
from django.test import Client

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.choices import AccountKind
from apps.billing.ledger.services import organisation_account
from apps.billing.models import ArrearsState
from apps.billing.wallet.selectors import balance_history
from apps.common import formatting
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import User
from tests.builders import World, make_charged, make_member, make_organisation, platform, signed_in
from tests.builders import top_up as pay
from tests.portal.kit import start
from tests.training.kit import submit

pytestmark = pytest.mark.django_db

WALLET = "/billing/wallet/"


def test_only_who_looks_after_the_money_sees_the_wallet(world: World, bob: User) -> None:
    assert signed_in(world.alice).get(WALLET).status_code == 200
    assert signed_in(bob).get(WALLET).status_code == 403
    with acting(platform()):
        finance = make_member(world.organisation, "frank", Role.FINANCE)
    assert signed_in(finance).get(WALLET).status_code == 200
    assert Client().get(WALLET).status_code == 302


def test_the_wallet_says_what_there_is_and_where_it_came_from(world: World) -> None:
    with acting(platform()) as staff:
        billing.top_up(
            staff,
            organisation_id=world.organisation.pk,
            amount_fen=123_456,
            reference="ICBC-0042",
            note="Second instalment",
        )
        stranger = make_organisation()
        billing.top_up(staff, organisation_id=stranger.pk, amount_fen=777, reference="OTHERS-1")
    page = signed_in(world.alice).get(WALLET).content.decode()
    for words in ("¥2,234.56", "ICBC-0042", "Second instalment", "1,234.56", world.organisation.name):
        assert words in page
    assert "OTHERS-1" not in page


def test_what_is_set_aside_is_listed(world: World) -> None:
    with acting(platform()):
        quote = funds.quote(world.actor, package_id=world.package.pk)
        billing.hold_for_start(
            world.actor, workload_id=world.organisation.pk, price_version_id=quote.price_version_id, label="held-run"
        )
    page = signed_in(world.alice).get(WALLET).content.decode()
    assert "held-run" in page
    assert "¥3.60 of it set aside" in page


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("low", "Less than a day is left"),
        ("grace", "Running work is stopped at"),
        ("suspended", "was saved and stopped"),
    ],
)
def test_arrears_are_said_in_words(world: World, status: str, words: str) -> None:
    with acting(platform()):
        ArrearsState.objects.update_or_create(organisation=world.organisation, defaults={"status": status})
    page = signed_in(world.alice).get(WALLET).content.decode()
    assert 'role="alert"' in page
    assert words in page


def test_an_empty_wallet_says_what_the_page_is_for() -> None:
    with acting(platform()):
        admin = make_member(make_organisation(balance_fen=0), role=Role.ADMIN)
    page = signed_in(admin).get(WALLET).content.decode()
    assert "No money has come in yet" in page
    assert "How to top up" in page


def test_the_history_ends_at_the_balance_and_begins_before_the_money_came(world: World) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, 3600)
        pay(world.organisation, 5_000)
        balance = organisation_account(world.organisation.pk, AccountKind.CASH).balance_fen
    with acting(world.actor):
        points = balance_history(world.actor, since=db_now() - timedelta(days=3))
    assert points[-1].balance_fen == balance == 100_000 + 5_000 - 360
    assert points[0].balance_fen == 0
    assert [p.at for p in points] == sorted(p.at for p in points)


def test_the_chart_projects_the_balance_while_something_runs(world: World, bob: User) -> None:
    client = signed_in(bob)
    assert [s["name"] for s in client.get("/billing/wallet/balance/").json()] == ["Balance"]
    with acting(platform()):
        price = funds.current_price(world.package.pk)
        assert price is not None
        billing.open_meter(
            session_id=world.organisation.pk,
            organisation_id=world.organisation.pk,
            user_id=bob.pk,
            workload_id=world.organisation.pk,
            label="digits",
            price_version_id=price.pk,
            at=db_now(),
        )
    now, ahead = client.get("/billing/wallet/balance/").json()
    assert ahead["points"][0][1] == now["points"][-1][1] == 1000.0
    assert ahead["points"][1][1] == pytest.approx(1000 - 7 * 24 * 3.6, abs=0.02)


def test_what_is_used_up_lasts_until_no_moment(world: World) -> None:
    """With a debt and something running, the head and the wallet named the present minute."""
    with acting(platform()):
        poor = make_organisation(balance_fen=0)
        dora = make_member(poor, "dora", Role.ADMIN)
        price = funds.current_price(world.package.pk)
        assert price is not None
        billing.open_meter(
            session_id=poor.pk,
            organisation_id=poor.pk,
            user_id=dora.pk,
            workload_id=poor.pk,
            label="digits",
            price_version_id=price.pk,
            at=db_now() - timedelta(hours=2),
        )
    client = signed_in(dora)
    page = client.get(WALLET).content.decode()
    assert "nothing is left" in page
    assert "It is used up, and what runs goes on" in page
    assert "until " not in page.partition('class="btn btn-ghost pl-wide pl-wallet"')[2].partition("</a>")[0]
    with acting(platform()):
        pay(poor, 100_000)
    assert "nothing is left" not in client.get(WALLET).content.decode()


def test_far_ahead_nobody_names_the_minute_at_which_money_ends(world: World) -> None:
    """¥1,000 at ¥3.60 an hour last for eleven days: the day is what anybody can know."""
    start(world, submit(world))
    with acting(platform()):
        until = funds.wallet(world.actor).runs_until
    minute, day = formatting.moment(until), formatting.estimated_moment(until)
    client = signed_in(world.alice)
    for address in ("/", WALLET):
        text = client.get(address).content.decode()
        assert (day in text, minute in text) == (True, False), address
