"""Archiving and deleting runs: what is out of sight, what is gone, what others keep, and what is in the way."""

import os
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from apps.audit.models import Entry as AuditEntry
from apps.boards.models import Board
from apps.common.errors import Conflict, NotFound
from apps.common.scoping import acting
from apps.storage import jobs
from apps.storage.choices import JobKind, RootKind
from apps.storage.digests import compute
from apps.storage.disk import trash
from apps.storage.services import root_of
from apps.training import archiving, deletion, selectors, services
from apps.training.continuing import SAME, checkpoint_start
from apps.training.models import Run
from apps.training.tasks import clear
from apps.workloads import leftovers
from apps.workloads.choices import Status
from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.said import Code, Said
from apps.workloads.models import Attempt, Workload
from tests.boards.kit import open_board
from tests.builders import World, platform
from tests.training.kit import submit, text, url
from tests.training.saved import end, saved_epochs


def api(run: Run, tail: str = "") -> str:
    return f"/api/v1/training/runs/{run.pk}/{tail}"


def delete(world: World, run: Run) -> None:
    with acting(world.actor):
        deletion.delete(world.actor, run)


def again(world: World, run: Run, start: Any = SAME) -> Run:
    with acting(world.actor):
        return services.rerun(world.actor, run, key=uuid4().hex, start=start)


def audited(run: Run) -> list[str]:
    with acting(platform()):
        rows = AuditEntry.objects.filter(target_id=str(run.pk)).order_by("pk")
        return [action for action in rows.values_list("action", flat=True) if action.startswith("run.")]


def test_an_archived_run_is_shown_where_it_is_asked_for_and_comes_back(world: World, alice: Client) -> None:
    run = end(submit(world, name="old one"))
    answer = alice.post(url("archive", run), follow=True)
    assert "old one is in the archive" in text(answer)
    row = f'href="/training/{run.pk}/"'
    for query, shown in (("", False), ("?archived=only", True), ("?archived=all", True), ("?status=stopped", False)):
        assert (row in text(alice.get(f"/training/{query}"))) is shown, query
    assert "No training yet" not in text(alice.get("/training/")), "there is one, out of sight"
    assert "Archived" in text(alice.get(url("detail", run)))
    alice.post(url("archive", run))
    alice.post(url("unarchive", run))
    assert row in text(alice.get("/training/"))
    assert row not in text(alice.get("/training/?archived=only"))
    assert audited(run) == ["run.archived", "run.unarchived"]


def test_the_api_archives_too(world: World, alice: Client, charlie: Client) -> None:
    run = end(submit(world))
    assert alice.put(api(run, "archive/")).json()["archived_at"]
    listed = alice.get("/api/v1/training/runs/").json()["results"]
    assert listed == []
    assert len(alice.get("/api/v1/training/runs/?archived=all").json()["results"]) == 1
    assert alice.delete(api(run, "archive/")).json()["archived_at"] is None
    assert charlie.put(api(run, "archive/")).status_code == 404


def test_what_lives_is_neither_archived_nor_deleted(world: World, alice: Client) -> None:
    run = submit(world)
    assert alice.put(api(run, "archive/")).status_code == 409
    assert alice.post(api(run, "deletion/")).status_code == 409
    assert "It has not ended yet." in text(alice.post(url("archive", run), follow=True))
    assert "It has not ended yet." in text(alice.post(url("delete", run), follow=True))
    assert alice.get(url("detail", run)).status_code == 200
    assert audited(run) == []


def test_the_question_says_what_is_lost_what_stays_and_how_much_is_freed(world: World, alice: Client) -> None:
    run = saved_epochs(world)
    went_on = again(world, run, checkpoint_start(None))
    asked = text(alice.get(f"/training/{run.pk}/ask/delete/"))
    assert "Its output, checkpoints, log, charts and passport" in asked
    assert "are freed" in asked
    assert "the checkpoint that digits v2 went on from" in asked
    assert "its code, which digits v2 uses" in asked
    told = alice.get(api(run, "deletion/")).json()
    assert told["uses"] == []
    assert told["size"] >= 0
    assert [each["version"] for each in told["code_users"]] == [2]
    assert [UUID(each["id"]) for each in told["continued_by"]] == [went_on.pk]
    for name in ("archive", "unarchive"):
        assert run.name in text(alice.get(f"/training/{run.pk}/ask/{name}/"))


def test_a_deleted_run_is_gone_with_its_files_and_its_bills_stay(world: World, alice: Client, dora: Client) -> None:
    run = saved_epochs(world)
    code, output = root_of(run.code), root_of(run.output)
    workload = f"/training/of-workload/{run.workload_id}/"
    assert alice.get(workload).status_code == 302
    assert "digits is deleted" in text(alice.post(url("delete", run), follow=True))
    assert not code.exists()
    assert not output.exists()
    assert len(os.listdir(trash())) == 2, "removed in the background"
    for path in (url("detail", run), url("passport", run), api(run), api(run, "passport/")):
        assert alice.get(path).status_code == 404, path
    for path in ("/training/?archived=all", "/search/?q=digits"):
        assert str(run.pk) not in text(dora.get(path)), path
    gone = alice.get(workload)
    assert gone.status_code == 410
    assert "This run was deleted" in text(gone)
    assert audited(run) == ["run.deleted"]
    with acting(platform()):
        row = Run.objects.select_related("output").get(pk=run.pk)
        assert (row.output.used_bytes, row.output.file_count) == (0, 0)
        compute(row.output_id)
    delete(world, run)
    assert audited(run) == ["run.deleted"], "twice is once"


def test_only_who_may_change_it_deletes_it(
    world: World, alice: Client, bob: Client, charlie: Client, dora: Client
) -> None:
    run = end(submit(world))
    for stranger in (bob, charlie):
        assert stranger.post(url("delete", run)).status_code == 404
        assert stranger.post(api(run, "deletion/")).status_code == 404
        assert stranger.get(api(run, "deletion/")).status_code == 404
        assert stranger.post(url("archive", run)).status_code == 404
    assert dora.post(api(run, "deletion/")).status_code == 204, "who manages the organisation's runs"


def test_code_that_another_version_uses_stays_until_the_last_is_deleted(world: World) -> None:
    first = end(submit(world))
    second = end(again(world, first))
    delete(world, first)
    assert root_of(first.code).is_dir()
    third = end(again(world, second))
    assert third.version == 3, "its number is not given again"
    delete(world, third)
    delete(world, second)
    assert not root_of(first.code).exists()


def test_who_went_on_from_its_checkpoint_keeps_it_and_can_run_again(world: World) -> None:
    source = saved_epochs(world)
    went_on = end(again(world, source, checkpoint_start(None)))
    delete(world, source)
    next_one = end(again(world, went_on))
    with acting(platform()):
        folder = next_one.continuation.folder
        assert os.listdir(root_of(folder)) == ["epoch-3.pt"]
        assert folder.pk == went_on.continuation.folder_id
    delete(world, went_on)
    assert root_of(folder).is_dir()
    delete(world, next_one)
    assert not root_of(folder).exists(), "nobody needs it any more"


def test_a_deleted_run_is_no_parent(world: World, alice: Client) -> None:
    run = end(submit(world))
    kept = end(again(world, run))
    delete(world, run)
    with pytest.raises(NotFound):
        again(world, run)
    assert "deleted" in text(alice.get(url("passport", kept)))
    assert alice.get(url("detail", kept)).status_code == 200


def test_an_open_board_is_in_the_way_and_named(world: World, alice: Client) -> None:
    run = end(submit(world))
    board: Board = open_board(world, run)
    refused = alice.post(api(run, "deletion/"))
    assert refused.status_code == 409
    assert "TensorBoard: Alice" in text(refused)
    assert "TensorBoard: Alice" in text(alice.get(f"/training/{run.pk}/ask/delete/"))
    with acting(platform()):
        Workload.objects.filter(pk=board.workload_id).update(status=Status.STOPPED, ended_at="2026-01-01T00:00Z")
    assert alice.post(api(run, "deletion/")).status_code == 204


@pytest.mark.parametrize("role", ["source", "root", "subject"])
def test_a_copy_of_its_files_that_has_not_ended_is_in_the_way(world: World, role: str) -> None:
    run = end(submit(world))
    here: list[str] = [RootKind.FOLDER.value, str(run.output_id)]
    with acting(world.actor):
        jobs.start(
            world.actor,
            kind=JobKind.COPY,
            title="Copying model.pt",
            subject_id=run.output_id if role == "subject" else uuid4(),
            root_kind=RootKind.FOLDER if role == "subject" else RootKind.VOLUME,
            parameters={} if role == "subject" else {role: here},
        )
    with pytest.raises(Conflict, match=r"Copying model\.pt"):
        delete(world, run)


def test_several_are_archived_and_deleted_at_once_and_the_others_are_named(world: World, alice: Client) -> None:
    old, live = end(submit(world, name="old")), submit(world, name="live")
    chosen = {"id": [str(old.pk), str(live.pk)], "act": "archive"}
    assert "Archive 2 training runs?" in text(alice.post("/training/bulk/", chosen))
    done = text(alice.post("/training/bulk/", {**chosen, "once": uuid4().hex}))
    assert "1 training run is in the archive." in done
    assert "It has not ended yet." in done
    gone = text(alice.post("/training/bulk/", {**chosen, "act": "delete", "once": uuid4().hex}))
    assert "1 training run is deleted." in gone
    back = text(alice.post("/training/bulk/", {"id": [str(old.pk)], "act": "unarchive", "once": uuid4().hex}))
    assert "is in the list again" not in back


LATER = "2100-01-01T00:00Z"


class Machine:
    """A driver that keeps logs; `away` while it cannot be reached."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []
        self.away = False

    def forget(self, handle: Handle) -> None:
        if self.away:
            raise DriverError(Said(Code.NOT_ENDED))
        self.forgotten.append(handle.ref)


def test_machines_are_asked_for_its_logs_until_they_have_removed_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, machine = end(submit(world)), Machine()
    monkeypatch.setattr(leftovers, "driver_named", lambda name: machine)
    handle = Handle("test", world.node.name, "ref-1").as_dict()
    with acting(platform()):
        Attempt.objects.create(
            organisation=world.organisation,
            workload=run.workload,
            number=1,
            node=world.node,
            handle=handle,
            ended_at=LATER,
        )
        Attempt.objects.create(
            organisation=world.organisation, workload=run.workload, number=2, node=world.node, ended_at=LATER
        )
    delete(world, run)
    machine.away = True
    clear()
    with acting(platform()):
        later = Run.objects.get(pk=run.pk).clear_at
        assert later is not None
        Run.objects.filter(pk=run.pk).update(clear_at="2026-01-01T00:00Z")
    machine.away = False
    clear()
    clear()
    assert machine.forgotten == ["ref-1"]
    with acting(platform()):
        assert Run.objects.get(pk=run.pk).clear_at is None


def test_nothing_is_asked_of_machines_that_keep_nothing_or_are_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = end(submit(world))
    handle = Handle("test", world.node.name, "ref-1").as_dict()
    with acting(platform()):
        Attempt.objects.create(
            organisation=world.organisation, workload=run.workload, number=1, node=world.node, handle=handle
        )
        monkeypatch.setattr(leftovers, "driver_named", lambda name: object())
        assert leftovers.remove_leftovers(run.workload)
        monkeypatch.setattr(leftovers, "driver_named", lambda name: 1 / 0)
        world.node.removed_at = run.created_at
        world.node.save(update_fields=["removed_at"])
        assert leftovers.remove_leftovers(run.workload)


def test_the_newest_version_counts_what_was_deleted(world: World) -> None:
    run = end(submit(world))
    second = end(again(world, run))
    delete(world, second)
    with acting(world.actor):
        assert selectors.newest_version(run) == 2
        assert [each.version for each in selectors.versions(world.actor, run)] == [1]
        archiving.unarchive(world.actor, run)
    assert audited(run) == [], "it was not archived"
