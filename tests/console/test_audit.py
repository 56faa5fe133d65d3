"""The operation log: filters, before and after, and the export."""

import csv
import io

import pytest
from django.test import Client

from apps.audit.services import Target, record
from apps.common.scoping import acting
from apps.common.spreadsheets import safe_cell
from tests.builders import World, platform
from tests.console.kit import page, post, text_of


def noted(world: World, label: str = "=HYPERLINK(1)", action: str = "user.updated") -> None:
    with acting(platform()):
        record(
            platform(),
            action=action,
            target=Target("user", "7", label),
            organisation_id=world.organisation.pk,
            before={"name": "Old", "email": "same"},
            after={"name": "New", "email": "same"},
        )


def exported(client: Client, **query: str) -> list[list[str]]:
    response = client.get(page("audit_export"), query)
    text = b"".join(response).decode()
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))


def test_an_entry_shows_who_what_and_only_the_fields_that_differ(root: Client, world: World) -> None:
    noted(world, "carol")
    text = text_of(root.get(page("audit"), {"target": "carol"}))
    assert "Account changed" in text
    assert world.organisation.name in text
    assert "Old → " in text
    assert "same" not in text


def test_a_change_made_in_the_console_carries_the_address_and_the_name(root: Client, world: World) -> None:
    post(root, page("organisation_freeze", world.organisation.pk))
    text = text_of(root.get(page("audit"), {"action": "organisation.frozen"}))
    assert "Staff" in text
    assert "127.0.0.1" in text
    assert "active → " in text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"who": "plstack"}, True),
        ({"who": "somebody else"}, False),
        ({"action": "user.updated"}, True),
        ({"action": "node.cordoned"}, False),
        ({"target_type": "user"}, True),
        ({"target": "7"}, True),
        ({"since": "2000-01-01", "until": "2000-01-02"}, False),
        ({"since": "2000-01-01"}, True),
        ({"organisation": "no such house"}, False),
    ],
)
def test_filters_limit_the_page_and_the_export_alike(
    root: Client, world: World, query: dict[str, str], found: bool
) -> None:
    noted(world, "carol")
    assert ("carol" in text_of(root.get(page("audit"), query))) is found
    assert any("carol" in row for row in exported(root, **query)) is found


def test_the_filter_by_organisation_takes_its_name(root: Client, world: World) -> None:
    noted(world, "carol")
    rows = exported(root, organisation=world.organisation.name)
    assert len(rows) > 1
    assert {row[10] for row in rows[1:]} == {world.organisation.name}


def test_the_export_runs_nothing_in_a_spreadsheet(root: Client, world: World) -> None:
    noted(world, "=HYPERLINK(1)")
    rows = exported(root, target="HYPERLINK")
    assert rows[1][8] == "'=HYPERLINK(1)"
    assert rows[1][11] == '{"email": "same", "name": "Old"}'


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_whatever_could_begin_a_formula_is_quoted(start: str) -> None:
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"


def test_numbers_stay_numbers() -> None:
    assert safe_cell(-5) == "-5"
    assert safe_cell(None) == ""


def test_the_export_is_complete_beyond_one_page_of_reading(
    root: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.console.kit.exporting.PAGE", 3)
    for number in range(8):
        noted(world, f"person-{number}", action="user.updated")
    rows = exported(root, target="person-")
    assert [row[8] for row in rows[1:]] == [f"person-{number}" for number in reversed(range(8))]


@pytest.mark.parametrize("number", ["9" * 12, "9" * 30, "9" * 300])
def test_a_page_further_than_the_database_counts_is_the_first_one(root: Client, world: World, number: str) -> None:
    noted(world, "carol")
    response = root.get(page("audit"), {"page": number})
    assert response.status_code == 200
    assert "Account changed" in text_of(response)
