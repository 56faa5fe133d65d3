"""kill -9 at every point of an export: the next worker writes the whole file, and says so once."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.billing.export_choices import ExportKind, ExportStatus
from apps.billing.exports import services as exports
from apps.billing.exports import states, working
from apps.billing.exports.wanted import ExportSpec
from apps.billing.models import Export, ExportPart
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications.models import Notice
from tests.billing.builders import top_up
from tests.billing.killing_kit import World, again, kill_everywhere, logged

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]


def the_export(world: World) -> Export:
    return Export.objects.get(organisation=world.lab)


def content(export: Export) -> bytes:
    return b"".join(bytes(part.content) for part in ExportPart.objects.filter(export=export).order_by("number"))


def ask(world: World) -> None:
    with acting(world.actor):
        exports.request_export(world.actor, wanted=ExportSpec(ExportKind.TRANSFERS))


def work(world: World) -> None:
    """The next worker comes once the dead one has been silent for long enough."""
    silent = db_now() - states.SILENT - timedelta(seconds=1)
    Export.objects.filter(organisation=world.lab, status=ExportStatus.RUNNING).update(beat_at=silent)
    working.write_due_exports()


def a_file_that_is_ready_is_whole(world: World) -> None:
    export = Export.objects.filter(organisation=world.lab, status=ExportStatus.READY).first()
    assert export is None or hashlib.sha256(content(export)).hexdigest() == export.digest


def told(world: World) -> list[str]:
    rows = Notice.objects.filter(organisation=world.lab, kind__startswith="export.")
    return list(rows.values_list("kind", flat=True))


def test_a_file_is_asked_for_once_and_written_whole_whatever_dies() -> None:
    def prepare(world: World) -> Callable[[], Any]:
        top_up(world.lab, 1234)
        return lambda: everything(world)

    def everything(world: World) -> None:
        if not Export.objects.filter(organisation=world.lab).exists():
            ask(world)
        work(world)

    def check(world: World) -> None:
        export = the_export(world)
        assert (export.status, export.done_rows) == (ExportStatus.READY, 1)
        a_file_that_is_ready_is_whole(world)
        assert b"12.34" in content(export)
        assert logged("export", export.pk) == ["billing.export.asked"]
        assert told(world) == ["export.ready"]

    names = kill_everywhere(prepare, everything, check, at_once=a_file_that_is_ready_is_whole)
    assert "before commit in apps.billing.exports.states.claim" in names
    assert "after commit in apps.billing.exports.states.store_part" in names


def test_what_cannot_be_written_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(working, "writer_of", broken)

    def prepare(world: World) -> Callable[[], Any]:
        ask(world)
        return lambda: work(world)

    def check(world: World) -> None:
        assert (the_export(world).status, the_export(world).error) == (ExportStatus.FAILED, working.BROKEN)
        assert told(world) == ["export.failed"]

    assert len(kill_everywhere(prepare, work, check)) >= 4


def test_a_wish_that_is_taken_back_leaves_nothing() -> None:
    def cancel(world: World) -> None:
        with acting(world.actor):
            again(lambda: exports.cancel(world.actor, export_id=the_export(world).pk))

    def prepare(world: World) -> Callable[[], Any]:
        ask(world)
        claimed = states.claim()
        assert claimed is not None
        states.store_part(claimed, 0, b"half a file")
        return lambda: cancel(world)

    def check(world: World) -> None:
        assert the_export(world).status == ExportStatus.CANCELLED
        assert not ExportPart.objects.filter(export=the_export(world)).exists()

    assert "after commit in apps.billing.exports.states.cancel" in kill_everywhere(prepare, cancel, check)


def test_a_file_whose_time_is_over_goes_whole() -> None:
    def prepare(world: World) -> Callable[[], Any]:
        ask(world)
        work(world)
        Export.objects.filter(organisation=world.lab).update(expires_at=db_now() - timedelta(days=1))
        return working.write_due_exports

    def at_once(world: World) -> None:
        ready = the_export(world).status == ExportStatus.READY
        assert ready == ExportPart.objects.filter(export=the_export(world)).exists()

    def check(world: World) -> None:
        assert the_export(world).status == ExportStatus.EXPIRED

    names = kill_everywhere(prepare, lambda world: working.write_due_exports(), check, at_once=at_once)
    assert "after commit in apps.billing.exports.states.expire" in names
