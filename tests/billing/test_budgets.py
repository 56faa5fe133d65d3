"""Budgets: what counts against each, where it leads, and that every threshold is told once a month."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from apps.audit.models import Entry
from apps.billing.budgets import selectors as reads
from apps.billing.budgets import services
from apps.billing.budgets.services import BudgetSpec
from apps.billing.choices import BudgetScope
from apps.billing.models import Budget, BudgetAlert, Charge
from apps.billing.months import Month
from apps.common.clock import db_now
from apps.common.errors import Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants.choices import Role
from apps.tenants.models import Department, Membership, User
from tests.billing.builders import Run
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_organisation,
    platform,
    signed_in,
)

pytestmark = pytest.mark.django_db
PAGE = "/billing/budgets/"
HOUR_S = 3600


def spec(
    fen: int = 1000, scope: BudgetScope = BudgetScope.ORGANISATION, name: str = "all", **more: object
) -> BudgetSpec:
    return BudgetSpec(name=name, scope=scope, limit_fen=fen, **more)  # type: ignore[arg-type]


def make(world: World, given: BudgetSpec) -> Budget:
    with acting(world.actor):
        return services.create_budget(world.actor, given)


def spend(world: World, user: User, hours: float, ago: timedelta = timedelta(0)) -> None:
    """Begun with this hour, so that it is this month's whatever the day; what lies ahead is not charged yet."""
    with acting(platform()):
        make_charged(world.organisation, user, world.package, hours * HOUR_S, ago=ago)


def spent(world: World, budget: Budget) -> int:
    with acting(world.actor):
        return reads.progress(world.organisation.pk, [budget], now=db_now())[0].spent_fen


def watch() -> int:
    with acting(platform()) as actor:
        return services.watch_budgets(actor)


def told() -> list[int]:
    with acting(platform()):
        return [each.data["percent"] for each in Notice.objects.filter(kind="billing.budget").order_by("pk")]


def test_each_scope_counts_its_own(world: World, bob: User) -> None:
    with acting(platform()):
        above = Department.objects.create(organisation=world.organisation, name="Research")
        below = Department.objects.create(organisation=world.organisation, name="Vision", parent=above)
        Membership.objects.filter(user=bob).update(department=below)
    spend(world, world.alice, 1)
    spend(world, bob, 2)
    assert spent(world, make(world, spec())) == 1080
    assert spent(world, make(world, spec(scope=BudgetScope.USER, name="alice", user_id=world.alice.pk))) == 360
    department = spec(scope=BudgetScope.DEPARTMENT, name="research", department_id=above.pk)
    assert spent(world, make(world, department)) == 720
    assert spent(world, make(world, spec(scope=BudgetScope.RESOURCE, name="cpu", resource="cpu"))) == 1080


def test_what_is_used_and_not_charged_yet_counts(world: World) -> None:
    budget = make(world, spec())
    with acting(platform()):
        price = world.package.prices.get()
        run = Run(world.actor, price, opened=db_now()).open().seen(timedelta(hours=1))
        assert not Charge.objects.filter(session_id=run.session_id).exists()
    assert spent(world, budget) == 360


def test_each_threshold_is_told_once_and_of_several_only_the_highest(world: World, bob: User) -> None:
    budget = make(world, spec(1000))
    assert watch() == 0
    spend(world, bob, 1.5)
    assert (watch(), watch()) == (1, 0)
    assert told() == [50]
    spend(world, bob, 2)
    assert (watch(), watch()) == (1, 0)
    assert told() == [50, 100]
    with acting(platform()):
        rows = BudgetAlert.objects.filter(budget=budget).order_by("percent").values_list("percent", "spent_fen")
        assert list(rows) == [(50, 540), (80, 1260), (100, 1260)]


def test_a_raised_budget_is_told_again_when_it_is_passed_again(world: World) -> None:
    budget = make(world, spec(1000))
    spend(world, world.alice, 3)
    watch()
    with acting(world.actor):
        services.update_budget(world.actor, budget.pk, spec(2000))
    assert watch() == 0, "half of the new one is passed and was told"
    spend(world, world.alice, 2)
    assert watch() == 1
    assert told() == [100, 80]


def test_the_member_it_is_for_is_told_too(world: World, bob: User) -> None:
    make(world, spec(100, BudgetScope.USER, user_id=bob.pk))
    spend(world, bob, 1)
    assert watch() == 1
    with acting(platform()):
        people = set(Notice.objects.filter(kind="billing.budget").values_list("user_id", flat=True))
    assert people == {world.alice.pk, bob.pk}


def test_a_new_month_begins_anew(world: World) -> None:
    budget = make(world, spec(100))
    spend(world, world.alice, 1, ago=timedelta(hours=2))
    watch()
    with acting(platform()) as actor:
        now = reads.progress(world.organisation.pk, [budget], now=db_now() + timedelta(days=32))[0]
        assert (now.spent_fen, now.passed) == (0, ())
        assert services.watch_budgets(actor, now=db_now() + timedelta(days=32)) == 0


def test_the_forecast_goes_on_at_the_pace_of_the_last_days(world: World) -> None:
    budget = make(world, spec(100_000))
    now = db_now()
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, 7 * HOUR_S)
        tomorrow = reads.progress(world.organisation.pk, [budget], now=now + timedelta(days=1))[0]
    assert tomorrow.forecast_fen >= tomorrow.spent_fen


def test_the_forecast_counts_what_burns_now(world: World) -> None:
    """Two replicas at ¥3.60 an hour until the month ends, whatever the last days were like."""
    everything = make(world, spec(100))
    others = make(world, spec(100, name="days", scope=BudgetScope.TAG, tag="nights"))
    now = datetime(2026, 11, 22, 4, tzinfo=UTC)
    with acting(platform()):
        price = world.package.prices.get()
        run = Run(world.actor, price, opened=now - timedelta(hours=1), replicas=2).open()
        found = reads.progress(world.organisation.pk, [everything, others], now=now)
        burn = price.rate_fen_per_hour * 2
        hours = (Month("2026-11").end - now) / timedelta(hours=1)
        assert found[0].forecast_fen == found[0].spent_fen + int(burn * int(hours))
        assert found[1].forecast_fen == 0, "what runs has no such tag"
        run.close(timedelta(hours=1))
        assert reads.progress(world.organisation.pk, [everything], now=now)[0].forecast_fen < found[0].forecast_fen


def test_who_may_not_manage_money_makes_no_budget(world: World, bob: User) -> None:
    actor = actor_of(bob, world.organisation)
    with acting(actor), pytest.raises(Denied):
        services.create_budget(actor, spec())


def test_nothing_of_another_organisation_can_be_named(world: World) -> None:
    with acting(platform()):
        other = make_organisation()
        stranger = make_member(other, "charlie", Role.ADMIN)
        department = Department.objects.create(organisation=other, name="Theirs")
    with acting(world.actor):
        for given in (
            spec(scope=BudgetScope.USER, user_id=stranger.pk),
            spec(scope=BudgetScope.DEPARTMENT, department_id=department.pk),
            spec(scope=BudgetScope.RESOURCE, resource="none such"),
        ):
            with pytest.raises(Invalid):
                services.create_budget(world.actor, given)
    mine = make(world, spec())
    theirs = actor_of(stranger, other)
    with acting(theirs), pytest.raises(NotFound):
        services.delete_budget(theirs, mine.pk)


def test_the_page_makes_changes_and_removes_a_budget_with_its_trace_in_the_log(world: World) -> None:
    client = signed_in(world.alice)
    assert "No budgets yet" in client.get(PAGE).content.decode()
    typed = {"name": "November", "limit": "10", "scope": "organisation", "thresholds": "50, 80,100"}
    assert client.post(reverse("billing:budget_new"), typed).status_code == 302
    spend(world, world.alice, 1)
    page = client.get(PAGE).content.decode()
    assert "November" in page
    assert "36 %" in page
    with acting(platform()):
        budget = Budget.objects.get()
    refused = client.post(reverse("billing:budget", args=[budget.pk]), {**typed, "thresholds": "many"})
    assert refused.status_code == 422
    client.post(reverse("billing:budget", args=[budget.pk]), {**typed, "limit": "20"})
    client.post(reverse("billing:budget_delete", args=[budget.pk]))
    with acting(platform()):
        assert not Budget.objects.exists()
        log = Entry.objects.filter(action__startswith="budget.").order_by("pk")
        assert [entry.action for entry in log] == ["budget.created", "budget.updated", "budget.deleted"]
        assert (log[1].before["limit_fen"], log[1].after["limit_fen"]) == (1000, 2000)


def test_the_api_says_the_same(world: World) -> None:
    client = signed_in(world.alice)
    given = {"name": "api", "scope": "organisation", "limit_fen": 720, "thresholds": [50]}
    made = client.post("/api/v1/budgets/", given, content_type="application/json")
    assert made.status_code == 201
    spend(world, world.alice, 1)
    one = client.get(f"/api/v1/budgets/{made.json()['id']}/").json()
    assert (one["spent_fen"], one["percent"], one["passed"]) == (360, 50, [])
    assert client.get("/api/v1/budgets/").json() == [one]
    changed = client.put(f"/api/v1/budgets/{one['id']}/", {**given, "limit_fen": 360}, content_type="application/json")
    assert changed.json()["percent"] == 100
    assert client.delete(f"/api/v1/budgets/{one['id']}/").status_code == 204
    assert client.get(f"/api/v1/budgets/{one['id']}/").status_code == 404
