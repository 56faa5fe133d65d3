"""Files of all lists, of an organisation in which something of every kind has been made."""

import pytest

from apps.billing.export_choices import ExportFormat, ExportStatus
from apps.billing.exports.lists import ExportedList, exported_lists
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from tests.architecture.scene import SECRET, Scene, scene, standing_scene
from tests.builders import actor_of, make_member, make_organisation, make_staff, platform, signed_in, staff_actor
from tests.console.test_lists import fetched, made

__all__ = ["scene", "standing_scene"]  # the fixtures


@pytest.mark.parametrize("each", exported_lists().values(), ids=lambda each: each.name)
def test_each_list_has_as_many_cells_as_columns(scene: Scene, each: ExportedList) -> None:
    """And each finds what the sweep's victim has of it, as far as there is something."""
    staff = make_staff()
    actor = staff_actor(staff) if each.platform else actor_of(scene.world.alice, scene.world.organisation)
    with acting(actor):
        rows = list(each.narrowed(actor, "")[:20])
        assert {len(each.cells(row)) for row in rows} <= {len(each.columns)}
    export = made(actor, each.name, format=ExportFormat.XLSX)
    assert export.status == ExportStatus.READY, export.error
    assert export.done_rows == len(rows)
    assert rows, "nothing to export: the test proves nothing"


def test_members_get_their_own_rows_and_managers_everybodys(scene: Scene) -> None:
    organisation = scene.world.organisation
    with acting(platform()):
        bob = make_member(organisation, "bob")
    assert made(actor_of(bob, organisation), "runs").done_rows == 0
    alices = actor_of(scene.world.alice, organisation)
    assert made(alices, "runs").done_rows == 3  # an array and a search on a table have one each


def test_another_organisation_gets_nothing_of_it(scene: Scene) -> None:
    with acting(platform()):
        other = make_organisation()
        charlie = make_member(other, "charlie", Role.ADMIN)
    for each in exported_lists().values():
        if not each.platform:
            content = fetched(signed_in(charlie), made(actor_of(charlie, other), each.name), "/billing/")
            assert SECRET.encode() not in content, each.name


def test_a_file_of_everybodys_rows_is_closed_to_who_sees_only_their_own_now(scene: Scene) -> None:
    export = made(actor_of(scene.world.alice, scene.world.organisation), "runs")
    client = scene.clients["owner"]
    assert fetched(client, export, "/billing/")
    with acting(platform()):
        Membership.objects.filter(user=scene.world.alice).update(role=Role.MEMBER)
    assert client.get(f"/billing/exports/{export.pk}/file/").status_code == 403
