"""Exports whose worker dies, whose owner leaves or takes the wish back: each ends with a clear word."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from django.db import connection

from apps.billing.export_choices import ExportKind, ExportStatus
from apps.billing.exports import services as exports
from apps.billing.exports import states, working
from apps.billing.exports.wanted import ExportSpec
from apps.billing.exports.writers import CsvWriter
from apps.billing.models import Export
from apps.common.claiming import MOST_CLAIMS
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.common.spreadsheets import Cell
from apps.tenants.models import Membership
from tests.billing.exports_kit import API, PAGE, content, fresh, made, worked, world
from tests.builders import (
    World,
    actor_of,
    platform,
    signed_in,
)

__all__ = ["world"]
pytestmark = pytest.mark.django_db


def test_another_worker_takes_up_what_a_killed_one_has_left(world: World) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        asked = exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES))
    with acting(platform()):
        killed = states.claim()
        assert killed is not None
        states.store_part(killed, 0, b"half a file")
        assert states.claim() is None  # it still gives signs of life
        Export.objects.filter(pk=asked.pk).update(beat_at=db_now() - states.SILENT - timedelta(seconds=1))
        assert working.write_due_exports() == 1
        assert not states.report_progress(killed, done=1, total=1)  # should it come back, it is not believed
        assert not states.finish(killed, size=1, digest="0" * 64, rows=1, amount_fen=1, covers_all=True)
    export = fresh(asked)
    assert export.status == ExportStatus.READY
    assert len(content(signed_in(world.alice), export)) == export.size


def test_what_kills_every_worker_fails_with_a_clear_word(world: World) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        asked = exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES))
    with acting(platform()):
        for _time in range(MOST_CLAIMS):
            states.claim()
            Export.objects.filter(pk=asked.pk).update(beat_at=db_now() - states.SILENT - timedelta(seconds=1))
        working.write_due_exports()
    assert fresh(asked).status == ExportStatus.FAILED
    assert "stopped three times" in signed_in(world.alice).get(PAGE).content.decode()


def test_who_has_left_meanwhile_gets_no_file(world: World) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        asked = exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES))
    with acting(platform()):
        Membership.objects.filter(user=world.alice).delete()
    worked()
    assert (fresh(asked).status, fresh(asked).error) == (ExportStatus.FAILED, working.DENIED)


def test_whatever_breaks_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(working, "writer_of", broken)
    assert made(world, ExportKind.CHARGES).error == working.BROKEN


def test_what_was_cancelled_is_not_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(world.alice)
    client.post(PAGE, {"kind": "charges", "format": "csv"})
    with acting(platform()):
        asked = Export.objects.get(owner=world.alice)
        claimed = states.claim()
        assert claimed is not None
        client.post(f"{PAGE}{asked.pk}/cancel/")
        assert not states.store_part(claimed, 0, b"late")
    assert fresh(asked).status == ExportStatus.CANCELLED
    assert client.post(f"{API}{asked.pk}/cancel/").status_code == 409


def test_rows_come_through_a_cursor_of_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Watching(CsvWriter):
        def row(self, cells: Sequence[Cell]) -> None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM pg_cursors WHERE statement LIKE '%%billing_charge%%'")
                seen.append(cursor.fetchone()[0])
            super().row(cells)

    monkeypatch.setattr(working, "writer_of", lambda format, path, columns, title: Watching(path, columns))
    assert made(world, ExportKind.CHARGES).status == ExportStatus.READY
    *rows, _sums = seen
    assert len(rows) == 2
    assert all(rows)


def test_days_that_cannot_be_meant_are_refused(world: World) -> None:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        for day in (date(1, 1, 1), date(9999, 12, 31)):
            with pytest.raises(Invalid):
                exports.request_export(actor, wanted=ExportSpec(ExportKind.CHARGES, until=day))
