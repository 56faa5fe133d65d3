"""The first page of Finance, and revenue."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from apps.common.scoping import acting
from tests.billing.builders import Run, price_of, top_up
from tests.billing.statements_kit import MIDDLE, NOVEMBER, OCTOBER, build, posted_at, rate
from tests.builders import World, platform
from tests.console.kit import page, text_of

HOUR = timedelta(hours=1)
PAGES = ("finance", "finance_figures", "finance_months", "revenue", "revenue_parts", "revenue_check")


@pytest.fixture(autouse=True)
def a_november_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages' own today, so that October is the month before whenever this runs."""
    for name in (
        "apps.console.finance.overview.views",
        "apps.console.finance.revenue.views",
        "apps.billing.statements.revenue",
        "apps.console.finance.revenue.api",
    ):
        monkeypatch.setattr(f"{name}.db_now", lambda: NOVEMBER.start + timedelta(days=9))


@pytest.fixture
def used(world: World) -> World:
    """Ten yuan in and ninety minutes used, in October."""
    with acting(platform()), posted_at(MIDDLE + 2 * HOUR):
        top_up(world.organisation, 1_000)
        Run(world.actor, price_of(world.package), opened=MIDDLE).open().close(1.5 * HOUR)
        rate(world.organisation, MIDDLE + 2 * HOUR)
    return world


def test_all_parts_stand_with_and_without_money(finance: Client, used: World) -> None:
    for name in PAGES:
        assert finance.get(page(name)).status_code == 200


def test_what_waits_is_named(finance: Client, used: World) -> None:
    with acting(platform()):
        build(used.organisation)
    assert "Drafts of 2026-10 to review: 1" in text_of(finance.get(page("finance")))


def test_six_months_in_the_chart(finance: Client, used: World) -> None:
    cash, recognised = finance.get(page("finance_months")).json()
    assert len(cash["points"]) == len(recognised["points"]) == 6
    assert [point[1] for point in recognised["points"]] == [0, 0, 0, 0, 5.4, 0]
    assert cash["points"][-2][1] == 10
    october = datetime.fromtimestamp(cash["points"][-2][0], ZoneInfo("Asia/Shanghai"))
    assert f"{october:%Y-%m-%d %H:%M}" == "2026-10-01 00:00"  # where the axis writes the month, its bar stands


def test_revenue_of_a_month_by_package_and_organisation(finance: Client, used: World) -> None:
    assert "5.40" in text_of(finance.get(page("revenue"), {"period": "2026-10"}))
    parts = text_of(finance.get(page("revenue_parts"), {"period": "2026-10"}))
    for words in (used.package.name_en, used.organisation.name, "5.40"):
        assert words in parts


def test_the_books_agree(finance: Client, used: World) -> None:
    assert "agree to the fen" in text_of(finance.get(page("revenue_check"), {"period": OCTOBER.period}))


@pytest.mark.parametrize("period", ["", "nonsense", "2999-01", "2026-13"])
def test_any_month_is_answered(finance: Client, period: str) -> None:
    assert finance.get(page("revenue"), {"period": period}).status_code == 200


def test_other_staff_see_none_of_it(ops: Client, business: Client) -> None:
    for name in PAGES:
        for client in (ops, business):
            assert client.get(page(name)).status_code == 403


API = "/api/v1/console/revenue/"


def test_the_api_says_the_same(finance: Client, used: World) -> None:
    months = finance.get(API, {"period": "2026-10"}).json()
    assert len(months) == 12
    assert (months[-1]["period"], months[-1]["recognised_fen"], months[-1]["received_fen"]) == ("2026-10", 540, 1_000)
    for part in ("packages", "organisations"):
        found = finance.get(f"{API}{part}/", {"period": "2026-10"}).json()
        assert [each["recognised_fen"] for each in found] == [540]


def test_the_api_refuses_other_staff_and_nonsense(finance: Client, ops: Client) -> None:
    assert ops.get(API).status_code == 403
    assert finance.get(API, {"period": "October"}).status_code == 400
