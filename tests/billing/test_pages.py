"""Consumption: who sees whose runs, totals that are the ledger's, formulas, the export."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Sum
from django.http import StreamingHttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.billing.choices import AccountKind
from apps.billing.formula import calculation, exact_yuan, plain_number
from apps.billing.ledger.services import organisation_account
from apps.billing.models import Charge, Transfer
from apps.common.scoping import acting
from apps.common.spreadsheets import safe_text as safe
from apps.tenants.choices import Role
from apps.tenants.models import User
from tests.builders import World, make_charged, make_world, platform, signed_in

pytestmark = pytest.mark.django_db

CONSUMPTION, EXPORT = "/billing/consumption/", "/billing/consumption/export/"
# Whole days that hold everything that a test makes, whatever the hour and the day of the month.
DAYS = {"range": "7d"}


def text_of(response: StreamingHttpResponse) -> str:
    return b"".join(response).decode("utf-8")


def lines_of(client: Client, **query: str) -> list[dict[str, str]]:
    text = text_of(client.get(EXPORT, {**DAYS, **query}))  # type: ignore[arg-type]
    *lines, _sums = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    return lines


def test_everybody_sees_their_own_runs_and_admins_all_of_them(world: World, bob: User) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, label="alices-run")
        make_charged(world.organisation, bob, world.package, label="bobs-run")
        other = make_world(role=Role.ADMIN)
        make_charged(other.organisation, other.alice, other.package, label="charlies-run")
    admin = signed_in(world.alice).get(CONSUMPTION, DAYS).content.decode()
    assert "alices-run" in admin
    assert "bobs-run" in admin
    assert "charlies-run" not in admin
    own = signed_in(bob).get(CONSUMPTION, DAYS).content.decode()
    assert "bobs-run" in own
    assert "alices-run" not in own


def test_totals_of_page_export_and_ledger_are_the_same(world: World, bob: User) -> None:
    with acting(platform()):
        for number in range(12):
            make_charged(
                world.organisation,
                (world.alice, bob)[number % 2],
                world.package,
                37.7 + number * 401.3,
                label=f"run-{number}",
            )
        revenue = organisation_account(world.organisation.pk, AccountKind.REVENUE).balance_fen
        moved = Transfer.objects.filter(organisation=world.organisation, kind="usage").aggregate(fen=Sum("amount_fen"))
    client = signed_in(world.alice)
    response = client.get(CONSUMPTION, DAYS)
    assert response.context["totals"]["amount_fen"] == revenue == moved["fen"]
    assert sum(Decimal(line["Charged ¥"]) for line in lines_of(client)) * 100 == revenue
    assert sum(
        point[1] for point in client.get("/billing/consumption/days/", DAYS).json()[0]["points"]
    ) == pytest.approx(revenue / 100)
    difference = next(cell for cell in response.context["strip"] if cell["label"] == "Difference to the ledger")
    assert (difference["value"], difference["tone"]) == ("¥0.00", "")


def test_a_run_opens_to_its_charges_with_formula_and_rounding(world: World) -> None:
    with acting(platform()):
        workload = make_charged(world.organisation, world.alice, world.package, 754.25)
        charge = Charge.objects.filter(session__workload_id=workload).order_by("start").first()
    assert charge is not None
    client = signed_in(world.alice)
    page = client.get(CONSUMPTION, {**DAYS, "run": str(workload), "charge": str(charge.pk)}).content.decode()
    assert "How this charge comes about" in page
    assert charge.key in page
    assert exact_yuan(charge) in page
    assert calculation(charge) in client.get(CONSUMPTION, {**DAYS, "run": str(workload)}).content.decode()


def test_the_formula_is_the_arithmetic(world: World) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, 10)
        charge = Charge.objects.get(organisation=world.organisation)
    assert calculation(charge) == "10 × 3.60 ÷ 3600"
    assert exact_yuan(charge) == "¥0.01"
    assert [plain_number(Decimal(n)) for n in ("3600.000000", "59.998100", "0E-10", "1E+3")] == [
        "3,600",
        "59.9981",
        "0",
        "1,000",
    ]


def test_nobody_opens_a_colleagues_or_a_strangers_run(world: World, bob: User) -> None:
    with acting(platform()):
        workload = make_charged(world.organisation, world.alice, world.package)
        charge = Charge.objects.get(session__workload_id=workload)
        stranger = make_world(role=Role.ADMIN)
    assert signed_in(world.alice).get(f"{CONSUMPTION}{workload}/").status_code == 200
    for person in (bob, stranger.alice):
        client = signed_in(person)
        assert client.get(f"{CONSUMPTION}{workload}/").status_code == 404
        page = client.get(CONSUMPTION, {**DAYS, "run": str(workload), "charge": str(charge.pk)}).content.decode()
        assert charge.key not in page


def test_a_run_with_many_charges_shows_some_and_leads_to_all(world: World) -> None:
    with acting(platform()):
        workload = make_charged(world.organisation, world.alice, world.package, 25 * 3600, ago=timedelta(hours=26))
    client = signed_in(world.alice)
    page = client.get(CONSUMPTION, {**DAYS, "run": str(workload)})
    assert len(page.context["opened"]["charges"]) == 20
    assert f"{CONSUMPTION}{workload}/" in page.content.decode()
    every = client.get(f"{CONSUMPTION}{workload}/").context
    assert every["table"]["paginator"].count == page.context["opened"]["count"] >= 25
    assert every["totals"]["amount_fen"] == 25 * 360


def test_the_list_can_be_searched_ordered_and_paged(world: World) -> None:
    with acting(platform()):
        for number in range(27):
            make_charged(world.organisation, world.alice, world.package, 60 + number, label=f"run-{number:02d}")
    client = signed_in(world.alice)
    assert len(client.get(CONSUMPTION, {**DAYS, "page": "2"}).context["table"]["page"].object_list) == 2
    found = client.get(CONSUMPTION, {**DAYS, "q": "RUN-07"}).context
    assert [row["label"] for row in found["table"]["page"].object_list] == ["run-07"]
    assert found["totals"]["seconds"] == 67
    longest = client.get(CONSUMPTION, {**DAYS, "order": "time"}).context["table"]["page"].object_list
    assert longest[0]["label"] == "run-26"


def test_the_number_of_queries_does_not_grow_with_the_rows(world: World) -> None:
    client, counts = signed_in(world.alice), []
    client.get(CONSUMPTION, DAYS)  # a session's first request also writes down where one is signed in
    for _again in range(2):
        with acting(platform()):
            for number in range(8):
                make_charged(world.organisation, world.alice, world.package, 60, label=f"run-{number}")
        with CaptureQueriesContext(connection) as queries:
            client.get(CONSUMPTION, DAYS)
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-11-20", "until": "2026-11-01"}, "until"),
        ({"since": "2020-01-01", "until": "2026-11-01"}, "since"),
        ({"order": "sideways"}, "order"),
        ({"range": "century"}, "range"),
    ],
)
def test_days_that_make_no_sense_are_refused_in_words(world: World, query: dict[str, str], field: str) -> None:
    response = signed_in(world.alice).get(CONSUMPTION, query)
    assert response.status_code == 400
    assert field in response.context["bad"]
    assert 'role="alert"' in response.content.decode()


@pytest.mark.parametrize(
    "query", [{"run": "x"}, {"charge": "١٢"}, {"charge": "9" * 30}, {"page": "-3"}, {"page": "zz"}]
)
def test_a_made_up_link_shows_the_list(world: World, query: dict[str, str]) -> None:
    assert signed_in(world.alice).get(CONSUMPTION, query).status_code == 200


def test_an_empty_month_says_what_the_page_is_for(world: World) -> None:
    assert "waiting costs nothing" in signed_in(world.alice).get(CONSUMPTION).content.decode()


# The export


def test_the_export_is_what_a_spreadsheet_reads_and_nothing_it_would_run(world: World) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, label="=HYPERLINK(1)")
        make_charged(world.organisation, world.alice, world.package, label="训练, “一”")
    client = signed_in(world.alice)
    response = client.get(EXPORT, DAYS)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    assert text_of(response).startswith("\ufeffDay,")  # type: ignore[arg-type]
    assert {line["Run"] for line in lines_of(client)} == {"'=HYPERLINK(1)", "训练, “一”"}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_whatever_begins_a_formula_is_quoted(start: str) -> None:
    assert safe(f"{start}1") == f"'{start}1"
    assert safe(f"1{start}") == f"1{start}"


def test_a_member_exports_only_their_own(world: World, bob: User) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package, label="alices-run")
        make_charged(world.organisation, bob, world.package, label="bobs-run")
    assert {line["Run"] for line in lines_of(signed_in(bob))} == {"bobs-run"}


def test_own_cost_is_the_sum_of_own_runs(world: World, bob: User) -> None:
    with acting(platform()):
        make_charged(world.organisation, bob, world.package, 600)
        make_charged(world.organisation, world.alice, world.package, 900)
    months = signed_in(bob).get("/billing/consumption/mine/").context
    assert months["this_fen"] + months["last_fen"] == 60
