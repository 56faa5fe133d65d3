"""Names of exported files: what, whose and of which days, so that two of them are told apart in a folder."""

from datetime import date

import pytest

from apps.billing.export_choices import ExportFormat, ExportKind
from apps.billing.exports import services as exports
from apps.billing.exports.sending import file_name
from apps.billing.exports.wanted import ExportSpec
from apps.billing.models import Export
from apps.billing.organisations import in_file_name
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from tests.billing.exports_kit import world
from tests.builders import World, actor_of, make_staff, platform, signed_in, staff_actor

__all__ = ["world"]
pytestmark = pytest.mark.django_db
SINCE, UNTIL = date(2026, 11, 1), date(2026, 11, 30)


def of_staff(**wanted: object) -> str:
    with acting(platform()):
        actor = staff_actor(make_staff(PlatformRole.SUPER))
    with acting(actor):
        return file_name(exports.request_export(actor, wanted=ExportSpec(**wanted)))  # type: ignore[arg-type]


def test_an_organisations_own_file_bears_its_name_and_the_days(world: World) -> None:
    actor, slug = actor_of(world.alice, world.organisation), in_file_name(world.organisation.name)
    with acting(actor):
        wanted = ExportSpec(ExportKind.CHARGES, ExportFormat.XLSX, SINCE, UNTIL)
        assert file_name(exports.request_export(actor, wanted=wanted)) == f"charges-{slug}-20261101-20261130.xlsx"
        asked: Export = exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES))
        assert file_name(asked).startswith(f"charges-{slug}-20")


def test_staff_get_the_name_of_the_organisation_that_they_asked_for(world: World) -> None:
    name = of_staff(kind=ExportKind.CHARGES, since=SINCE, until=UNTIL, organisation_id=world.organisation.pk)
    assert name == f"charges-{in_file_name(world.organisation.name)}-20261101-20261130.csv"
    assert of_staff(kind=ExportKind.CHARGES, since=SINCE, until=UNTIL) == "charges-20261101-20261130.csv"


def test_one_end_of_the_days_is_named_too(world: World) -> None:
    assert of_staff(kind=ExportKind.CHARGES, until=UNTIL) == "charges-from-the-first-20261130.csv"
    assert of_staff(kind=ExportKind.CHARGES, since=SINCE).startswith("charges-20261101-2")


@pytest.mark.parametrize("asked", ["slug", "name", "id"])
def test_a_list_takes_both_from_its_filters(world: World, asked: str) -> None:
    organisation = world.organisation
    text = {"slug": organisation.slug, "name": organisation.name.upper(), "id": organisation.pk}[asked]
    query = f"organisation={text}&since=2026-11-01&until=2026-11-30"
    name = of_staff(kind=ExportKind.LIST, list_name="recharges", query=query)
    assert name == f"recharges-{in_file_name(organisation.name)}-20261101-20261130.csv"


@pytest.mark.parametrize("text", ["nobody", "5b1d43ad-6f0e-4f4c-9b6e-0d5a6c4c0001", "a%00"])
def test_a_filter_that_names_nobody_leaves_the_name_out(world: World, text: str) -> None:
    name = of_staff(kind=ExportKind.LIST, list_name="recharges", query=f"organisation={text}&since=2026-11-01")
    assert name.startswith("recharges-20261101-2")


def test_files_that_are_made_at_once_are_named_alike(world: World) -> None:
    days = "period=custom&since=2026-11-01&until=2026-11-30"
    client, slug = signed_in(world.alice), in_file_name(world.organisation.name)
    found = client.get(f"/billing/consumption/export/?{days}")["Content-Disposition"]
    assert f"charges-{slug}-20261101-20261130.csv" in found


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("星海科技", "星海科技"),
        ("Star  Lab / Vision", "Star_Lab_Vision"),
        ("../etc", "etc"),
        ('a"b\r\nc', "a_b_c"),
        ("x" * 90, "x" * 40),
    ],
)
def test_a_name_is_made_one_that_every_system_takes(name: str, shown: str) -> None:
    assert in_file_name(name) == shown
