"""Files of lists: what the filters show, for whom the list is open, in the reader's language."""

import csv
import io
from typing import Any

import openpyxl
import pytest
from django.http import QueryDict
from django.test import Client

from apps.billing.export_choices import ExportFormat, ExportKind, ExportStatus
from apps.billing.exports import services as exports
from apps.billing.exports import working
from apps.billing.exports.lists import exported_lists
from apps.billing.exports.wanted import ExportSpec
from apps.billing.models import Export
from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.common.scoping import acting
from apps.common.tables import Table
from apps.tenants.choices import PlatformRole
from tests.builders import (
    World,
    make_organisation,
    make_staff,
    platform,
    signed_in,
    staff_actor,
)

# Lists without a file of their own, and why.
MONEY = "the page of exports has it, with sums that are the ledger's"
DETAIL = "a detail on the page of one thing"
SHORT = "a handful of rows, or tied to the moment"
LEFT_OUT = {
    "billing.recharges.tables.RechargeTable": MONEY,
    "boards.tables.BoardTable": SHORT,
    "schedules.history.StartTable": DETAIL,
    "modelhub.tables.VersionTable": DETAIL,
    "pipelines.tables.PipelineRunTable": DETAIL,
    "training.reports.table.ReportTable": SHORT,
    "training.saved_views.table.ViewTable": SHORT,
    "builds.tables.BuildTable": "what came of them is in the list of images",
    "console.work.registry.listing.CapacityTable": SHORT,
    "console.work.registry.listing.CollectionTable": SHORT,
    "registry.distribution.listing.RepositoryTable": "clients of the registry list what is there",
    "registry.scanning.listing.ExceptionTable": SHORT,
    "registry.scanning.listing.FindingTable": "a CSV of its own",
    "registry.saving.listing.SavingTable": "what came of them is in the list of repositories",
    "registry.sharing.listing.ReceivedTable": SHORT,
    "registry.transfers.listing.TransferTable": "what came of them is in the list of repositories",
    "billing.payments.tables.TopUpTable": MONEY,
    "billing.statements.tables.BillTable": MONEY,
    "billing.statements.tables.ChargeTable": MONEY,
    "billing.invoices.tables.InvoiceTable": SHORT,
    "billing.invoices.tables.TitleTable": SHORT,
    "billing.prepaid.tables.PrepaidTable": SHORT,
    "billing.vouchers.tables.VoucherTable": SHORT,
    "billing.wallet.tables.HoldTable": SHORT,
    "billing.adjustments.tables.AdjustmentTable": MONEY,
    "console.finance.adjustments.listing.AdjustmentTable": MONEY,
    "console.finance.changes.listing.ChangeTable": SHORT,
    "billing.exports.tables.ExportTable": "the files themselves",
    "console.audit.listing.AuditTable": "a CSV of its own, streamed",
    "console.finance.discounts.listing.DiscountTable": SHORT,
    "console.finance.units.listing.UnitTable": SHORT,
    "console.finance.units.listing.UnitPriceTable": DETAIL,
    "console.finance.prepaid.listing.TermPriceTable": DETAIL,
    "console.finance.price_versions.PriceTable": DETAIL,
    "console.finance.recharges.listing.WaitingTable": SHORT,
    "console.finance.reconciliation.listing.BillDayTable": SHORT,
    "console.finance.reconciliation.listing.BillItemTable": DETAIL,
    "console.finance.revenue.listing.OrganisationRevenueTable": DETAIL,
    "console.finance.vouchers.listing.VoucherUseTable": DETAIL,
    "console.hardware.processes.listing.ProcessTable": SHORT,
    "console.hardware.processes.listing.ReplacementTable": SHORT,
    "console.people.departments.listing.TreeTable": DETAIL,
    "console.people.members.listing.MemberTable": DETAIL,
    "console.people.requests.listing.RequestTable": SHORT,
    "console.people.own_roles.listing.OwnRoleTable": SHORT,
    "console.people.roles.listing.PlatformRoleTable": SHORT,
    "console.queue.listing.QueueTable": SHORT,
    "console.queue.listing.PreemptionTable": SHORT,
    "console.work.images.listing.UseTable": DETAIL,
    "console.organisation.departments.listing.DepartmentTable": SHORT,
    "console.organisation.invitations.listing.InvitationTable": SHORT,
    "console.organisation.quotas.listing.HoldingTable": SHORT,
    "console.organisation.roles.listing.RoleTable": SHORT,
    "storage.tables.VersionTable": DETAIL,
    "whatif.tables.ScenarioTable": SHORT,
    "notifications.tables.NoticeTable": "somebody's own news",
    "notifications.hook_tables.HookTable": SHORT,
    "notifications.hook_tables.DeliveryTable": DETAIL,
    "registry.tables.ImageTable": SHORT,
}


def organisations(word: str, count: int) -> None:
    with acting(platform()):
        for number in range(count):
            make_organisation(f"{word} {number:02}", balance_fen=0)


def made(actor: Actor, name: str, query: str = "", format: ExportFormat = ExportFormat.CSV) -> Export:
    with acting(actor):
        asked = exports.request_export(actor, wanted=ExportSpec(ExportKind.LIST, format, list_name=name, query=query))
    with acting(platform()):
        working.write_due_exports()
        return Export.objects.get(pk=asked.pk)


def fetched(client: Client, export: Export, section: str) -> bytes:
    assert export.status == ExportStatus.READY, export.error
    response: Any = client.get(f"{section}exports/{export.pk}/file/")
    assert response.status_code == 200
    return b"".join(response)


def lines(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


def test_a_file_holds_what_the_filter_shows_and_every_page_of_it(world: World) -> None:
    organisations("Filtered", 30)
    actor, client = _staff()
    found = lines(fetched(client, made(actor, "organisations", "q=Filtered&per_page=25&page=2"), "/console/"))
    assert [line[0] for line in found[1:]] == [f"Filtered {number:02}" for number in range(30)]
    assert len(lines(fetched(client, made(actor, "organisations"), "/console/"))) > 31


def test_heads_stand_in_the_readers_language(root: Client) -> None:
    root.post("/i18n/setlang/", {"language": "zh-hans"})
    root.post("/console/exports/list/", {"list": "organisations", "query": "", "format": "xlsx"})
    with acting(platform()):
        working.write_due_exports()
        export = Export.objects.get()
    sheet = openpyxl.load_workbook(io.BytesIO(fetched(root, export, "/console/"))).active
    assert sheet["A1"].value == "组织"
    assert sheet.max_row == 1 + export.done_rows  # nothing adds up here, so there is no row of sums


def test_a_list_is_closed_to_whom_its_page_is(world: World) -> None:
    with acting(platform()):
        ops = staff_actor(make_staff(PlatformRole.OPS))
    with acting(ops), pytest.raises(Denied):
        exports.request_export(ops, wanted=ExportSpec(ExportKind.LIST, list_name="organisations"))
    with acting(world.actor) as member, pytest.raises(NotFound):
        exports.request_export(member, wanted=ExportSpec(ExportKind.LIST, list_name="organisations"))
    with acting(ops), pytest.raises(NotFound):
        exports.request_export(ops, wanted=ExportSpec(ExportKind.LIST, list_name="nonsense"))
    assert made(ops, "nodes").status == ExportStatus.READY


def test_a_file_is_closed_to_staff_who_lost_the_right(world: World) -> None:
    with acting(platform()):
        person = make_staff(PlatformRole.BUSINESS)
    export = made(staff_actor(person), "organisations")
    client = signed_in(person)
    assert fetched(client, export, "/console/")
    with acting(platform()):
        person.platform_assignments.update(role=PlatformRole.OPS)
    assert client.get(f"/console/exports/{export.pk}/file/").status_code == 403
    assert client.get("/console/exports/").status_code == 200


def test_text_that_a_spreadsheet_would_run_is_text(world: World) -> None:
    with acting(platform()):
        make_organisation("=HYPERLINK(1)", balance_fen=0)
    actor, client = _staff()
    found = lines(fetched(client, made(actor, "organisations", "q=HYPER"), "/console/"))
    assert found[1][0] == "'=HYPERLINK(1)"


def test_pressing_twice_asks_once(root: Client) -> None:
    for _press in range(2):
        assert root.post("/console/exports/list/", {"list": "nodes", "format": "csv"}).status_code == 302
    with acting(platform()):
        assert Export.objects.count() == 1
    assert root.post("/console/exports/list/", {"list": "nonsense"}).status_code == 404


def test_every_list_has_a_file_or_a_reason_not_to() -> None:
    shown = {table for table in _tables(Table) if not table.__subclasses__() or table.export}
    silent = {
        f"{table.__module__.removeprefix('apps.')}.{table.__name__}"
        for table in shown
        if not table.export and table.__module__.startswith("apps.") and ".styleguide." not in table.__module__
    }
    assert sorted(silent - LEFT_OUT.keys()) == []


def test_every_table_names_a_list_that_exists() -> None:
    named = {table.export for table in _tables(Table) if table.export}
    assert named == set(exported_lists())


def _tables(base: type[Table]) -> list[type[Table]]:
    return [base, *(each for child in base.__subclasses__() for each in _tables(child))]


def _staff() -> tuple[Actor, Client]:
    with acting(platform()):
        person = make_staff()
    return staff_actor(person), signed_in(person)


@pytest.mark.parametrize("size", ["1000000", "-1", "0", "x", "26"])
def test_no_address_asks_for_more_rows_than_are_offered(root: Client, size: str) -> None:
    organisations("Many", 30)
    page = root.get("/console/organisations/", {"q": "Many", "per_page": size})
    assert len(page.context["table"].page.object_list) == 25


def test_a_reader_chooses_how_many_rows_a_page_has_and_goes_to_one(root: Client) -> None:
    organisations("Many", 60)
    page = root.get("/console/organisations/", {"q": "Many", "per_page": "50"})
    assert len(page.context["table"].page.object_list) == 50
    html = page.content.decode()
    assert '<option value="50" selected>50</option>' in html
    assert "per_page=50" in html.split('aria-label="Pages"')[1]  # links to the other pages keep it
    assert 'name="page" min="1" max="2"' in html
    assert 'action="/console/exports/list/"' in html
    assert "q=Many" in html.split('name="query" value="')[1].split('"')[0]


def test_filters_of_an_address_are_read_as_the_page_reads_them(world: World) -> None:
    actor, _client = _staff()
    with acting(actor):
        listed = exported_lists()["organisations"]
        assert list(listed.narrowed(actor, "q=nobody-is-called-so")) == []
        assert list(listed.narrowed(actor, QueryDict("sort=x&page=9").urlencode()))
