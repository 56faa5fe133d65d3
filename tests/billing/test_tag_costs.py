"""Costs by tag, budgets for a tag, and tags in files: what each run was metered under, to the fen."""

import csv
import io
from datetime import timedelta

import pytest
from django.db.models import Sum

from apps.billing.budgets import selectors as reads
from apps.billing.budgets import services
from apps.billing.budgets.services import BudgetSpec
from apps.billing.choices import AccountKind, BudgetScope
from apps.billing.consumption.costs import Cost, Dimension, Step, costs, over_time, total
from apps.billing.export_choices import ExportKind
from apps.billing.ledger.services import organisation_account
from apps.billing.models import Budget, Charge
from apps.billing.selectors import ChargeFilter
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.billing import exports_kit
from tests.builders import World, actor_of, make_charged, make_member, make_world, platform, signed_in

pytestmark = pytest.mark.django_db
PAGE, API = "/billing/consumption/costs/", "/api/v1/consumption/costs/"
DAYS = {"range": "30d", "by": "tag"}


@pytest.fixture
def world() -> World:
    with acting(platform()):
        return make_world(role=Role.ADMIN, rate_fen="1234.567")


def run(world: World, *tags: str, seconds: float = 777.7, ago: timedelta = timedelta(hours=3)) -> int:
    """What one run was charged, in whole fen."""
    with acting(platform()):
        made = make_charged(world.organisation, world.alice, world.package, seconds, ago=ago, tags=tags)
        return int(Charge.objects.filter(session__workload_id=made).aggregate(fen=Sum("amount_fen"))["fen"])


def lines(world: World) -> dict[str, Cost]:
    with acting(world.actor):
        return {line.key: line for line in costs(world.actor, filters=ChargeFilter(), by=Dimension.TAG)}


def test_runs_with_one_tag_add_up_to_the_ledger(world: World) -> None:
    days = [timedelta(hours=3, days=n) for n in range(6)]
    for ago, tag in zip(days, ["Vision", "nlp", "vision"] * 2, strict=True):
        run(world, tag, ago=ago)
    found = lines(world)
    assert set(found) == {"vision", "nlp"}
    assert (found["vision"].label, found["vision"].runs) == ("Vision", 4)
    with acting(platform()):
        revenue = organisation_account(world.organisation.pk, AccountKind.REVENUE).balance_fen
        exact = Charge.objects.aggregate(fen=Sum("exact_fen"))["fen"]
    assert sum(line.amount_fen for line in found.values()) == revenue
    assert sum(line.exact_fen for line in found.values()) == exact


def test_a_run_with_two_tags_counts_under_both_and_the_rest_stands_apart(world: World) -> None:
    both, one, none = run(world, "a", "b"), run(world, "b"), run(world)
    found = lines(world)
    assert {key: line.amount_fen for key, line in found.items()} == {"a": both, "b": both + one, "": none}
    assert found[""].label == "Without a tag"
    with acting(world.actor):
        assert total(world.actor, filters=ChargeFilter()).amount_fen == both + one + none
        shown = over_time(
            world.actor, filters=ChargeFilter(), by=Dimension.TAG, step=Step.MONTH, lines=list(found.values())
        )
    assert {name: sum(points.values()) for name, points in shown} == {
        "a": both,
        "b": both + one,
        "Without a tag": none,
    }


def test_all_others_are_those_under_none_of_the_lines_shown(world: World) -> None:
    for number in range(5):
        run(world, f"t{number}", seconds=3000 - 300 * number)
    rest = run(world, "least", seconds=30)
    run(world, "t0", "least", seconds=30)
    with acting(world.actor):
        found = costs(world.actor, filters=ChargeFilter(), by=Dimension.TAG)
        *_shown, (name, points) = over_time(
            world.actor, filters=ChargeFilter(), by=Dimension.TAG, step=Step.MONTH, lines=found
        )
    fourth = next(line.amount_fen for line in found if line.key == "t4")
    assert (name, sum(points.values())) == ("All others", rest + fourth)


def test_the_page_the_interface_and_the_file_say_the_same(world: World) -> None:
    charged = run(world, "a", "b") + run(world)
    client = signed_in(world.alice)
    answer = client.get(PAGE, DAYS)
    assert answer.context["total_fen"] == charged
    assert "counts under both" in answer.content.decode()
    assert [row["key"] for row in client.get(API, DAYS).json()] == [row["line"].key for row in answer.context["rows"]]
    text = client.get(f"{PAGE}export/", DAYS).content.decode()
    *rows, last = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    assert {row["Tag"] for row in rows} == {"a", "b", "Without a tag"}
    assert float(last["Charged ¥"]) * 100 == pytest.approx(charged)
    assert client.get(f"{PAGE}series/", DAYS).status_code == 200


def test_a_member_sees_the_tags_of_their_own_runs_and_a_stranger_none(world: World) -> None:
    run(world, "alices")
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
        make_charged(world.organisation, bob, world.package, tags=("bobs",))
        stranger = make_world(role=Role.ADMIN)
    assert [row["label"] for row in signed_in(bob).get(API, DAYS).json()] == ["bobs"]
    assert signed_in(stranger.alice).get(API, DAYS).json() == []
    with acting(actor_of(stranger.alice)):
        assert costs(actor_of(stranger.alice), filters=ChargeFilter(), by=Dimension.TAG) == []


def test_tags_stand_in_the_file_of_charges(world: World) -> None:
    run(world, "vision", "team:nlp")
    run(world, ago=timedelta(days=2))
    *rows, _last = exports_kit.lines(signed_in(world.alice), exports_kit.made(world, ExportKind.CHARGES))
    assert {row["Tags"] for row in rows} == {"vision team:nlp", ""}


def spec(tag: str, name: str = "b", fen: int = 100_000) -> BudgetSpec:
    return BudgetSpec(name=name, scope=BudgetScope.TAG, limit_fen=fen, tag=tag)


def test_a_budget_for_a_tag_counts_what_ran_under_it(world: World) -> None:
    both, one = run(world, "Vision", "b"), run(world, "vision")
    run(world, "other")
    then = (db_now() - timedelta(hours=3)).replace(minute=30)  # after the runs, in their month
    with acting(world.actor):
        made = services.create_budget(world.actor, spec(" VISION "))
        assert made.tag == "VISION"
        found = reads.progress(world.organisation.pk, [made], now=then)[0]
    assert abs(found.spent_fen - both - one) <= 1  # whole charges; a budget counts exact fen


@pytest.mark.parametrize("tag", ["", "two words", "a/b"])
def test_a_budget_needs_exactly_one_tag(world: World, tag: str) -> None:
    with acting(world.actor), pytest.raises(Invalid) as caught:
        services.create_budget(world.actor, spec(tag))
    assert "tag" in caught.value.fields


def test_a_budget_for_a_tag_is_made_on_the_page_and_read_through_the_interface(world: World) -> None:
    run(world, "Vision")
    client = signed_in(world.alice)
    assert 'value="Vision"' in client.get("/billing/budgets/new/").content.decode()
    posted = {"name": "v", "limit": "10", "scope": "tag", "tag": "vision", "thresholds": "50"}
    assert client.post("/billing/budgets/new/", {**posted, "tag": "a b"}).status_code == 422
    assert client.post("/billing/budgets/new/", posted).status_code == 302
    assert "Tag: vision" in client.get("/billing/budgets/").content.decode()
    assert [(row["scope"], row["tag"]) for row in client.get("/api/v1/budgets/").json()] == [("tag", "vision")]
    with acting(world.actor):
        assert Budget.objects.get().tag == "vision"
