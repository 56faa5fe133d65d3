"""Metrics and parameters as columns of the list of runs: shown, sorted by, chosen, and in its file."""

import csv
import io
import math
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.exports.lists import exported_list
from apps.common.scoping import acting
from apps.common.spreadsheets import csv_line
from apps.tracking.notes import set_parameters
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.tracking.value_columns import column_of, order_of
from apps.training.models import Run
from apps.training.tables import RunTable
from tests.builders import World, make_world, platform, signed_in
from tests.training.kit import submit, text

pytestmark = pytest.mark.django_db
LIST, API = "/training/", "/api/v1/training/runs/"
VALUES = {"middle": 0.5, "nothing": None, "least": 0.25, "no number": math.nan, "greatest": math.inf, "equal": 0.5}


def said(world: World, name: str, value: float | None, **parameters: str) -> Run:
    run = submit(world, name=name, arguments=(("--lr", "0.3"), ("--fast", "")))
    with acting(platform()):
        if value is not None:
            record(workload_id=run.workload_id, points=[Point("train/loss", value, 1, 0.0)])
        if parameters:
            set_parameters(run_id=run.workload_id, values=parameters)
    return run


@pytest.fixture
def runs(world: World) -> dict[str, Run]:
    return {name: said(world, name, value) for name, value in VALUES.items()}


def statements(client: Client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        client.get(url)
    return len(queries)


def in_page(client: Client, query: str, names: Any = VALUES) -> list[str]:
    page = text(client.get(f"{LIST}?{query}"))
    return sorted(names, key=lambda name: page.index(f">{name}</a>"))


def in_api(client: Client, query: str) -> list[str]:
    found, url = [], f"{API}?{query}"
    while url:
        answer = client.get(url).json()
        found += [row["name"] for row in answer["results"]]
        url = answer["next"]
    return found


DOWN = ["greatest", "equal", "middle", "least", "no number", "nothing"]
UP = ["least", "equal", "middle", "greatest", "no number", "nothing"]


def test_values_are_shown_without_another_statement(world: World, alice: Client) -> None:
    said(world, "one", 0.125, optimizer="adam <b>")
    plain = statements(alice, LIST)
    query = "column=metric:train/loss&column=param:optimizer&column=param:--lr&column=param:--fast&column=metric:none"
    page = text(alice.get(f"{LIST}?{query}"))
    assert all(each in page for each in ("0.125", "adam &lt;b&gt;", ">0.3<", ">✓<", 'title="train/loss"'))
    assert "adam <b>" not in page
    assert statements(alice, f"{LIST}?{query}") == plain


@pytest.mark.parametrize(("sort", "expected"), [("-metric:train/loss", DOWN), ("metric:train/loss", UP)])
def test_sorted_by_a_metric_rows_without_a_number_come_last(
    runs: dict[str, Run], alice: Client, sort: str, expected: list[str]
) -> None:
    """Infinite values stand with them where they would stand anyway: at that end."""
    assert in_page(alice, f"sort={sort}") == expected
    assert in_api(alice, f"sort={sort}") == expected


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("sort", ["-metric:train/loss", "metric:train/loss", "metric:none"])
def test_pages_of_the_api_miss_and_double_nothing(runs: dict[str, Run], alice: Client, sort: str, size: int) -> None:
    whole = in_api(alice, f"sort={sort}")
    assert sorted(whole) == sorted(VALUES)
    assert in_api(alice, f"sort={sort}&page_size={size}") == whole


def test_a_cursor_is_good_for_its_own_metric(runs: dict[str, Run], alice: Client) -> None:
    link = alice.get(f"{API}?sort=metric:train/loss&page_size=1").json()["next"]
    assert alice.get(link).status_code == 200
    assert alice.get(link.replace("train%2Floss", "other")).status_code == 400
    assert alice.get(link.replace("&sort=metric%3Atrain%2Floss", "")).status_code == 400


@pytest.mark.parametrize("sort", ["loss", "metric:", "param:lr", "-name", "metric:" + "x" * 300])
def test_an_order_that_is_none_is_refused_beside_its_name(alice: Client, sort: str) -> None:
    answer = alice.get(API, {"sort": sort})
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == ["sort"]


@pytest.mark.parametrize(
    "query", ["column=x", "column=metric:", "sort=metric:", "sort=param:lr", "column=metric:a__b.c"]
)
def test_a_made_up_column_breaks_no_page(runs: dict[str, Run], alice: Client, query: str) -> None:
    assert alice.get(f"{LIST}?{query}").status_code == 200


def test_a_page_shows_at_once_what_was_measured_since(world: World, alice: Client) -> None:
    run = said(world, "one", 0.125)
    url = f"{LIST}?column=metric:train/loss"
    assert "0.125" in text(alice.get(url))
    with acting(platform()):
        record(workload_id=run.workload_id, points=[Point("train/loss", 0.0625, 2, 1.0)])
    page = text(alice.get(url))
    assert "0.0625" in page
    assert "0.125" not in page


def test_rows_are_kept_although_columns_are_chosen(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(world, "one", 0.125)
    url = f"{LIST}?column=metric:train/loss"
    first = text(alice.get(url))
    monkeypatch.setattr(RunTable, "render_name", lambda *_: pytest.fail("drawn again"))
    assert "0.125" in first
    assert "0.125" in text(alice.get(url))


def test_the_filter_and_its_pages_keep_the_columns(runs: dict[str, Run], alice: Client) -> None:
    page = text(alice.get(f"{LIST}?column=metric:train/loss&sort=name"))
    assert '<input type="hidden" name="column" value="metric:train/loss">' in page
    assert "sort=-metric%3Atrain%2Floss" in page or "sort=metric%3Atrain%2Floss" in page


def test_what_the_shown_runs_have_is_offered(world: World, alice: Client) -> None:
    said(world, "one", 0.125, optimizer="adam")
    page = text(alice.get("/training/columns/?column=metric:train/loss&q=one"))
    assert 'value="metric:train/loss" checked' in page
    assert all(f'value="param:{name}"' in page for name in ("optimizer", "--lr", "--fast"))
    assert "no metrics and no parameters" in text(alice.get("/training/columns/?q=another"))
    dialog = text(alice.get("/training/columns/", headers={"HX-Request": "true"}))
    assert "<html" not in dialog
    assert 'value="metric:train/loss"' in dialog


def test_strangers_are_offered_nothing_of_it(world: World, alice: Client) -> None:
    said(world, "one", 0.125, optimizer="adam")
    with acting(platform()):
        elsewhere = make_world()
    client = signed_in(elsewhere.alice)
    assert "optimizer" not in text(client.get("/training/columns/"))
    assert "0.125" not in text(client.get(f"{LIST}?column=metric:train/loss&sort=-metric:train/loss"))
    assert client.get(f"{API}?sort=-metric:train/loss").json()["results"] == []


def test_what_is_chosen_stands_in_the_address(world: World, alice: Client) -> None:
    chosen = {"column": ["param:lr", "metric:train/loss", "metric:train/loss", "nonsense"]}
    answer = alice.post("/training/columns/?q=one&column=metric:old", chosen)
    query = QueryDict(answer["Location"].partition("?")[2])
    assert query.getlist("column") == ["param:lr", "metric:train/loss"]
    assert query["q"] == "one"
    refused = alice.post("/training/columns/", {"column": [f"metric:{number}" for number in range(7)]})
    assert refused.status_code == 422
    assert "At most 6 columns" in text(refused)


def test_the_file_has_the_columns_in_the_order_of_the_list(world: World, runs: dict[str, Run]) -> None:
    said(world, "formula", -1.5, optimizer="=1+1")
    query = "column=param:optimizer&column=param:--lr&sort=-metric:train/loss"
    listed = exported_list("runs")
    with acting(world.actor) as actor:
        rows = list(listed.ordered(listed.narrowed(actor, query), query))
        lines = [csv_line(listed.cells_for(query)(row)) for row in rows]
    assert [str(each.label) for each in listed.columns_for(query)][-3:] == ["optimizer", "--lr", "train/loss"]
    cells = list(csv.reader(io.StringIO("".join(lines))))
    assert [line[0] for line in cells] == [*DOWN[:4], "formula", *DOWN[4:]]
    assert [line[-1] for line in cells] == ["∞", "0.5", "0.5", "0.25", "-1.5", "NaN", ""]
    assert cells[4][-3:-1] == ["'=1+1", "0.3"]
    with acting(world.actor) as actor:
        plain = listed.ordered(listed.narrowed(actor, ""), "")
        assert next(iter(plain)).name == "formula"
    assert len(listed.columns_for("")) == len(listed.columns)


@given(st.text(max_size=300))
def test_any_text_is_a_column_or_none(written: str) -> None:
    for asked in (written, f"metric:{written}", f"param:{written}"):
        column = column_of(asked)
        assert column is None or column_of(column.key) == column
        order = order_of(asked)
        assert order is None or order_of(("-" if order.descending else "") + order.column.key) == order
