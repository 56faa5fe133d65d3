"""Files made in the background: what stands in them, who may fetch them, and for how long."""

import io
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import Sum
from openpyxl import load_workbook

from apps.billing.choices import AccountKind
from apps.billing.export_choices import ExportFormat, ExportKind, ExportStatus
from apps.billing.exports import services as exports
from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.sources import SOURCES
from apps.billing.exports.wanted import ExportSpec, export_spec
from apps.billing.exports.writers import Sums, XlsxWriter
from apps.billing.ledger.services import organisation_account
from apps.billing.models import Charge, Export, ExportPart, Transfer
from apps.billing.months import Month
from apps.billing.statements import services as statements
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.scoping import acting
from apps.common.spreadsheets import Cell
from apps.notifications.models import Notice
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Membership
from tests.billing.exports_kit import API, PAGE, content, fresh, lines, made, worked, world
from tests.builders import (
    World,
    actor_of,
    make_charged,
    make_member,
    make_staff,
    make_world,
    platform,
    signed_in,
    staff_actor,
    top_up,
)

__all__ = ["world"]
pytestmark = pytest.mark.django_db


def test_the_last_row_of_a_csv_is_the_ledger_to_the_fen(world: World) -> None:
    export = made(world, ExportKind.CHARGES)
    assert (export.status, export.percent) == (ExportStatus.READY, 100)
    *rows, last = lines(signed_in(world.alice), export)
    with acting(platform()):
        revenue = organisation_account(world.organisation.pk, AccountKind.REVENUE).balance_fen
        exact = Charge.objects.filter(organisation=world.organisation).aggregate(fen=Sum("exact_fen"))["fen"]
    assert sum(Decimal(row["Charged ¥"]) for row in rows) * 100 == revenue == export.amount_fen
    assert Decimal(last["Charged ¥"]) * 100 == revenue
    assert Decimal(last["Exact ¥"]) * 100 == exact
    assert len(rows) == export.done_rows
    assert {row["Run"] for row in rows} == {"'=HYPERLINK(1)", "bobs-run"}


def test_numbers_are_numbers_and_times_are_times_in_xlsx(world: World) -> None:
    export = made(world, ExportKind.CHARGES, ExportFormat.XLSX)
    sheet = load_workbook(io.BytesIO(content(signed_in(world.alice), export))).active
    assert sheet is not None
    head, *rows, last = list(sheet.iter_rows(values_only=True))
    place = {name: number for number, name in enumerate(head)}
    assert last[place["Charged ¥"]] == pytest.approx((export.amount_fen or 0) / 100)
    cell: dict[str, Any] = {str(name): rows[0][number] for name, number in place.items()}
    assert isinstance(cell["Charged ¥"], int | float)
    assert isinstance(cell["From"], datetime)
    assert cell["Run"] == "=HYPERLINK(1)"
    assert sheet.cell(2, place["Run"] + 1).data_type == "s"  # text, not a formula


def test_what_is_exported_of_the_ledger_adds_up_to_the_wallet(world: World) -> None:
    with acting(platform()):
        top_up(world.organisation, 12_345)
    export = made(world, ExportKind.TRANSFERS)
    last = lines(signed_in(world.alice), export)[-1]
    with acting(platform()):
        wallet = organisation_account(world.organisation.pk, AccountKind.CASH).balance_fen
        turnover = Transfer.objects.filter(organisation=world.organisation).aggregate(fen=Sum("amount_fen"))["fen"]
    assert Decimal(last["Change of the wallet ¥"]) * 100 == wallet
    assert Decimal(last["Amount ¥"]) * 100 == turnover == export.amount_fen


def test_statements_add_up_to_what_was_charged(world: World) -> None:
    with acting(platform()) as actor:
        ran = db_now() - timedelta(hours=2)  # as `make_charged` has it: in the first hours of a month, in the last one
        statements.build(actor, organisation_id=world.organisation.pk, month=Month.at(ran))
        clerk = make_staff(PlatformRole.FINANCE)
    with acting(staff_actor(clerk)) as staff:
        wanted = ExportSpec(ExportKind.STATEMENTS, organisation_id=world.organisation.pk)
        asked = exports.request_export(staff, wanted=wanted)
    worked()
    with acting(platform()):
        revenue = organisation_account(world.organisation.pk, AccountKind.REVENUE).balance_fen
    assert (fresh(asked).done_rows, fresh(asked).amount_fen) == (1, revenue)


def test_recharges_add_up_to_what_came_in(world: World) -> None:
    assert made(world, ExportKind.RECHARGES).amount_fen == 100_000
    assert made(world, ExportKind.TOP_UPS).amount_fen == 0


def test_a_member_exports_their_own_runs_and_nothing_else(world: World) -> None:
    with acting(platform()):
        bob = Membership.objects.get(organisation=world.organisation, user__name="Bob").user
    assert {row["Run"] for row in lines(signed_in(bob), made(world, ExportKind.CHARGES, user=bob))} == {"bobs-run", ""}
    actor = actor_of(bob, world.organisation)
    with acting(actor), pytest.raises(Denied):
        exports.request_export(actor, wanted=ExportSpec(ExportKind.TRANSFERS))
    assert "Ledger entries" not in signed_in(bob).get(PAGE).content.decode()


def test_staff_export_everybody_or_one_organisation(world: World) -> None:
    with acting(platform()):
        other = make_world(role=Role.ADMIN)
        make_charged(other.organisation, other.alice, other.package, 60, label="charlies-run")
        clerk = make_staff(PlatformRole.FINANCE)
    client = signed_in(clerk)
    answer = client.post(
        "/console/exports/", {"kind": "charges", "format": "csv", "organisation": other.organisation.name}
    )
    assert answer.status_code == 302
    worked()
    with acting(platform()):
        export = Export.objects.get(owner=clerk)
        assert Notice.objects.filter(user=clerk, kind="export.ready").count() == 1
    text = b"".join(client.get(f"/console/exports/{export.pk}/file/")).decode()
    assert text.startswith("\ufeffOrganisation,Day,")
    assert f"{other.organisation.name}," in text
    assert "charlies-run" in text
    assert "bobs-run" not in text


def test_a_file_belongs_to_its_owner_and_to_the_place_it_was_asked_for_in(world: World) -> None:
    export = made(world, ExportKind.CHARGES)
    with acting(platform()):
        colleague = make_member(world.organisation, "carol", Role.ADMIN)
        stranger = make_world(role=Role.ADMIN).alice
    for user in (colleague, stranger):
        assert signed_in(user).get(f"{PAGE}{export.pk}/file/").status_code == 404
        assert signed_in(user).get(f"{API}{export.pk}/").status_code == 404
    with acting(staff_actor(make_staff())) as staff, pytest.raises(NotFound):
        exports.cancel(staff, export_id=export.pk)


def test_a_file_of_everybodys_rows_is_closed_to_who_may_see_only_their_own_now(world: World) -> None:
    """It was made with the rights of then; the file of somebody who never had more stays open to them."""
    with acting(platform()):
        bob = Membership.objects.get(organisation=world.organisation, user__name="Bob").user
        make_member(world.organisation, "carol", Role.ADMIN)
    whole, own = made(world, ExportKind.CHARGES), made(world, ExportKind.CHARGES, user=bob)
    with acting(platform()):
        Membership.objects.filter(organisation=world.organisation).update(role=Role.MEMBER)
    for address in (f"{PAGE}{whole.pk}/file/", f"{API}{whole.pk}/file/"):
        assert signed_in(world.alice).get(address).status_code == 403
    assert signed_in(bob).get(f"{PAGE}{own.pk}/file/").status_code == 200


def test_a_file_is_gone_when_its_time_is_over(world: World) -> None:
    export = made(world, ExportKind.CHARGES)
    with acting(platform()):
        Export.objects.filter(pk=export.pk).update(expires_at=db_now() - timedelta(seconds=1))
    assert signed_in(world.alice).get(f"{PAGE}{export.pk}/file/").status_code == 404
    worked()
    assert fresh(export).status == ExportStatus.EXPIRED
    with acting(platform()):
        assert not ExportPart.objects.filter(export=export).exists()
    assert "Expired" in signed_in(world.alice).get(PAGE).content.decode()


def test_pressing_twice_asks_once(world: World) -> None:
    client = signed_in(world.alice)
    for _press in range(2):
        client.post(PAGE, {"kind": "charges", "format": "xlsx"})
    with acting(platform()):
        assert Export.objects.filter(owner=world.alice).count() == 1


def test_one_person_has_five_files_under_way_at_most(world: World) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        for number in range(exports.MOST_OPEN):
            exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES, text=str(number)))
        with pytest.raises(Conflict):
            exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES, text="one more"))


def test_a_full_sheet_is_followed_by_another(tmp_path: Path) -> None:
    columns = (Column("Name"), Column("Amount", CellFormat.YUAN, adds=True))
    writer, sums = XlsxWriter(tmp_path / "file.xlsx", columns, title="Bills: a/b", sheet_rows=4), Sums(columns)
    for number in range(7):
        cells: list[Cell] = [f"row {number}", Decimal("0.01")]
        sums.add(cells)
        writer.row(cells)
    writer.close(sums.row())
    book = load_workbook(tmp_path / "file.xlsx")
    assert [sheet.max_row for sheet in book.worksheets] == [4, 4, 3]
    assert book.sheetnames == ["Bills  a b", "Bills  a b 2", "Bills  a b 3"]
    assert [sheet.auto_filter.ref for sheet in book.worksheets] == ["A1:B4", "A1:B4", "A1:B2"]
    assert book.worksheets[-1]["B3"].value == 0.07
    assert sums.amount_fen() == 7


@pytest.mark.parametrize("title", ["", "[]:*?/\\", "'quoted'", "x" * 40, "消费明细" * 10])
def test_a_sheets_name_is_one_that_spreadsheets_take(tmp_path: Path, title: str) -> None:
    writer = XlsxWriter(tmp_path / "file.xlsx", (Column("Name"),), title=title, sheet_rows=2)
    for _number in range(12):
        writer.row(["row"])
    writer.close(None)
    names = load_workbook(tmp_path / "file.xlsx").sheetnames
    assert len(names) == len(set(names)) == 12
    assert all(0 < len(name) <= 31 for name in names)


def test_each_kind_has_as_many_cells_as_columns(world: World) -> None:
    wanted = ExportSpec(ExportKind.CHARGES, ExportFormat.XLSX, text="x", organisation_id=uuid4())
    assert export_spec(wanted.kind, wanted.format, wanted.filters()) == wanted
    with acting(platform()) as actor:
        for kind, source in SOURCES.items():
            for row in source.rows(actor, ExportSpec(kind)):
                assert len(source.cells(row)) == len(source.columns)


def test_too_much_for_a_direct_download_leads_to_the_form(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.billing.exports.direct.DIRECT_ROWS", 1)
    client = signed_in(world.alice)
    answer = client.get("/billing/consumption/export/", {"range": "7d", "q": "run"})
    assert answer.status_code == 200  # one row only
    answer = client.get("/billing/consumption/export/", {"range": "7d"})
    assert answer.status_code == 302
    assert "Too much for a direct download" in client.get(answer["Location"]).content.decode()


def test_the_same_by_the_interface(world: World) -> None:
    client = signed_in(world.alice)
    asked = client.post(API, {"kind": "charges", "format": "csv", "since": "2020-01-01"}, "application/json")
    assert asked.status_code == 202
    worked()
    found = client.get(f"{API}{asked.json()['id']}/").json()
    assert (found["status"], found["filters"]) == ("ready", {"since": "2020-01-01"})
    file = b"".join(client.get(f"{API}{found['id']}/file/"))
    assert len(file) == found["size"]
    assert client.post(API, {"kind": "statues"}, "application/json").status_code == 400
    assert [row["id"] for row in client.get(API).json()["results"]] == [found["id"]]
