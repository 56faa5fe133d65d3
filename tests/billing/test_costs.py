"""Costs by department, member and resource: every view adds up to the charges."""

import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Sum

from apps.billing.consumption.costs import MOST_SERIES, Dimension, Step, costs, over_time
from apps.billing.models import Charge
from apps.billing.selectors import ChargeFilter
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Department, Membership, User
from tests.builders import World, actor_of, make_charged, make_member, make_package, make_world, platform, signed_in

pytestmark = pytest.mark.django_db
PAGE, API = "/billing/consumption/costs/", "/api/v1/consumption/costs/"
DAYS = {"range": "30d"}


@pytest.fixture
def world() -> World:
    """Alice in Vision below Research, Bob in none, Carol has left; two packages, several days."""
    with acting(platform()):
        made = make_world(role=Role.ADMIN)
        above = Department.objects.create(organisation=made.organisation, name="Research")
        vision = Department.objects.create(organisation=made.organisation, name="Vision", parent=above)
        Membership.objects.filter(user=made.alice).update(department=vision)
        bob, carol = make_member(made.organisation, "bob"), make_member(made.organisation, "carol")
        dear = make_package(7777)
        for number, user in enumerate([made.alice, bob, carol] * 3):
            package = dear if number % 2 else made.package
            make_charged(made.organisation, user, package, 37.7 + number * 401.3, ago=timedelta(hours=3, days=number))
        Membership.objects.filter(user=carol).delete()
        return made


def charged(world: World) -> int:
    with acting(platform()):
        rows = Charge.objects.filter(organisation=world.organisation)
        return int(rows.aggregate(fen=Sum("amount_fen"))["fen"])


@pytest.mark.parametrize("by", list(Dimension))
def test_every_view_adds_up_to_the_charges(world: World, by: Dimension) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        lines = costs(actor, filters=ChargeFilter(), by=by)
        exact = Charge.objects.aggregate(fen=Sum("exact_fen"))["fen"]
        for step in Step:
            series = over_time(actor, filters=ChargeFilter(), by=by, step=step, lines=lines)
            assert sum(sum(points.values()) for _name, points in series) == charged(world)
    assert sum(line.amount_fen for line in lines) == charged(world)
    assert sum(line.exact_fen for line in lines) == exact
    assert [line.amount_fen for line in lines] == sorted((line.amount_fen for line in lines), reverse=True)


def test_departments_are_those_of_today_and_who_has_left_is_told_apart(world: World) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        found = {line.label: line for line in costs(actor, filters=ChargeFilter(), by=Dimension.DEPARTMENT)}
    assert set(found) == {"Vision", "No department", "Have left the organisation"}
    assert found["Vision"].sub == "Research"
    assert found["Vision"].runs == 3


def test_page_chart_and_export_say_the_same(world: World) -> None:
    client = signed_in(world.alice)
    page = client.get(PAGE, {**DAYS, "by": "member"})
    assert page.context["total_fen"] == charged(world)
    series: list[dict[str, Any]] = client.get(f"{PAGE}series/", {**DAYS, "by": "member"}).json()
    points = sum(point[1] for each in series for point in each["points"])
    assert points * 100 == pytest.approx(charged(world))
    text = client.get(f"{PAGE}export/", {**DAYS, "by": "member"}).content.decode()
    *rows, last = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    assert sum(Decimal(row["Charged ¥"]) for row in rows) * 100 == Decimal(last["Charged ¥"]) * 100 == charged(world)


def test_months_are_shown_for_long_spans(world: World) -> None:
    answer = signed_in(world.alice).get(PAGE, {"since": "2026-01-01", "until": "2026-11-30"})
    assert answer.context["view"].step is Step.MONTH
    series = signed_in(world.alice).get(f"{PAGE}series/", {"since": "2026-01-15", "until": "2026-03-02"})
    assert series.json() == []  # nothing was charged then


def test_the_chart_has_a_handful_of_series(world: World) -> None:
    with acting(platform()):
        for number in range(MOST_SERIES + 2):
            make_charged(world.organisation, make_member(world.organisation, f"m{number}"), world.package, 60)
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        lines = costs(actor, filters=ChargeFilter(), by=Dimension.MEMBER)
        series = over_time(actor, filters=ChargeFilter(), by=Dimension.MEMBER, step=Step.DAY, lines=lines)
    assert len(series) == MOST_SERIES + 1
    assert series[-1][0] == "All others"


def test_a_member_sees_the_resources_of_their_own_runs(world: World) -> None:
    with acting(platform()):
        bob: User = Membership.objects.get(organisation=world.organisation, user__name="Bob").user
        own = Charge.objects.filter(session__user=bob).aggregate(fen=Sum("amount_fen"))["fen"]
    answer = signed_in(bob).get(PAGE, {**DAYS, "by": "department"})
    assert answer.context["view"].by is Dimension.PACKAGE
    assert answer.context["total_fen"] == own
    assert signed_in(bob).get(API, {**DAYS, "by": "department"}).status_code == 403


def test_nobody_sees_another_organisations_cost(world: World) -> None:
    with acting(platform()):
        charlie = make_world(role=Role.ADMIN).alice
    assert signed_in(charlie).get(PAGE, DAYS).context["total_fen"] == 0
    assert signed_in(charlie).get(API, DAYS).json() == []


def test_the_same_by_the_interface(world: World) -> None:
    client = signed_in(world.alice)
    for by in Dimension.values:
        assert sum(row["amount_fen"] for row in client.get(API, {**DAYS, "by": by}).json()) == charged(world)
    assert client.get(API, {"by": "colour"}).status_code == 400
