"""Going on from a checkpoint of an earlier run."""

import os
import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.errors import Conflict, Invalid, NotFound, Unavailable
from apps.common.scoping import acting
from apps.storage.models import Folder
from apps.storage.services import root_of
from apps.training import services
from apps.training.checkpoints import Problem, checkpoints
from apps.training.continuing import BEGINNING, Resume, checkpoint_start
from apps.training.models import Continuation, Run
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.selectors import log_chunk
from tests.builders import World, platform, unknown_id
from tests.training.kit import form_for, request_for, submit, text, url
from tests.training.saved import save, saved_epochs
from tests.workloads.loops import until

COUNTS = """
import os, pathlib, time
folder = pathlib.Path(os.environ["PLSTACK_CHECKPOINTS"])
folder.mkdir(exist_ok=True)
done = [int(each.stem.split("-")[1]) for each in folder.glob("epoch-*.json")]
begin = max(done, default=0) + 1
for epoch in range(begin, begin + 500):
    (folder / f"epoch-{epoch}.json").write_text('{"epoch": %d}' % epoch)
    print("epoch", epoch, flush=True)
    time.sleep(0.2)
"""


@pytest.fixture
def run(world: World) -> Run:
    return saved_epochs(world)


def go_on(world: World, run: Run, key: str | None = None, **changes: Any) -> Run:
    with acting(world.actor):
        return services.rerun(world.actor, run, key=os.urandom(8).hex(), start=checkpoint_start(key), **changes)


def kept(run: Run) -> list[str]:
    with acting(platform()):
        return sorted(os.listdir(root_of(Continuation.objects.get(run=run).folder)))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("epoch-4.pt", b""),
        ("epoch-4.pt", b"PK\x03\x04 and no end"),
        ("epoch-4.json", b'{"epoch": '),
        ("epoch-4.safetensors", (1000).to_bytes(8, "little") + b"{}"),
        ("epoch-4.pt.tmp", b"half"),
        ("tmp-checkpoint-4", b"half"),
    ],
)
def test_one_that_was_not_written_to_its_end_is_passed_over(world: World, run: Run, name: str, content: bytes) -> None:
    save(run, name, content)
    newest = checkpoints(run)[0]
    assert newest.problem is Problem.UNFINISHED
    with pytest.raises(Invalid) as refused:
        go_on(world, run, newest.key)
    assert "not written to its end" in str(refused.value)
    assert kept(go_on(world, run)) == ["epoch-1.pt", "epoch-2.pt", "epoch-3.pt"][2:]


def test_the_next_version_is_given_a_copy_and_names_its_parent(world: World, run: Run) -> None:
    again = go_on(world, run)
    assert (again.version, again.parent_id, again.family) == (2, run.pk, run.family)
    assert again.workload.tags == ["baseline"]
    [copy] = again.workload.frozen_spec.copies
    with acting(platform()):
        row = Continuation.objects.get(run=again)
        assert copy.source == row.folder.relative_path
        assert copy.target == "/workspace/output/checkpoints"
        assert (row.source_id, row.checkpoint, row.step) == (run.pk, "epoch-3", 3)
        assert row.folder.sealed
    assert kept(again) == ["epoch-3.pt"]
    assert kept(go_on(world, run, "epoch-1")) == ["epoch-1.pt"]


def test_it_outlives_what_it_was_taken_from(world: World, run: Run) -> None:
    first = go_on(world, run, "epoch-2")
    (root_of(run.output) / "checkpoints" / "epoch-2.pt").unlink()
    with acting(platform()):
        folder = Continuation.objects.get(run=first).folder
        assert (root_of(folder) / "epoch-2.pt").read_bytes() == b"weights"
    second = go_on(world, run, "epoch-2")
    with acting(platform()):
        assert Continuation.objects.get(run=second).folder_id == folder.pk
    third = go_on(world, run, "epoch-1")
    assert kept(third) == ["epoch-1.pt"]


def test_running_it_again_starts_where_it_started(world: World, run: Run) -> None:
    first = go_on(world, run, "epoch-2")
    with acting(world.actor):
        same = services.rerun(world.actor, first, key="same")
        bare = services.rerun(world.actor, first, key="bare", start=BEGINNING)
    assert same.workload.frozen_spec.copies == first.workload.frozen_spec.copies
    assert same.parent_id == first.pk
    assert bare.workload.frozen_spec.copies == ()


def folders() -> set[Any]:
    with acting(platform()):
        return set(Folder.objects.values_list("pk", flat=True))


def test_refusals_are_said_and_leave_nothing(world: World, run: Run, settings: LazySettings) -> None:
    before = folders()
    with pytest.raises(Invalid, match="not there any more"):
        go_on(world, run, "epoch-9")
    settings.RUN_OUTPUT_MIB = 0
    with pytest.raises(Invalid, match="the output of a run may take"):
        go_on(world, run)
    settings.RUN_OUTPUT_MIB = 1024
    for path in (root_of(run.output) / "checkpoints").iterdir():
        path.unlink()
    with pytest.raises(Invalid, match="not there any more"):
        go_on(world, run, "epoch-3")
    assert folders() == before
    with acting(platform()):
        assert Run.objects.count() == 1
    assert not list(root_of(run.output).parent.parent.glob("resume/*"))


def test_a_full_disk_is_said_and_leaves_nothing(world: World, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    before = folders()
    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr("apps.storage.linking.fcntl.ioctl", full)
    with pytest.raises(Unavailable, match="disk is full"):
        go_on(world, run)
    assert folders() == before
    assert not list(root_of(run.output).parent.parent.glob("resume/*"))


def test_what_runs_is_stopped_first(world: World) -> None:
    live = submit(world)
    save(live, "epoch-1.pt")
    with pytest.raises(Conflict, match="not ended"):
        go_on(world, live)


def test_only_who_may_clone_may_go_on_from_it(
    world: World, run: Run, bob: Client, dora: Client, charlie: Client
) -> None:
    for client, status in ((bob, 404), (charlie, 404), (dora, 201)):
        for path in ("checkpoints", "continue"):
            ask = client.get if path == "checkpoints" else client.post
            answer = ask(f"/api/v1/training/runs/{run.pk}/{path}/")
            assert answer.status_code == (200 if status == 201 and path == "checkpoints" else status)
    with acting(world.actor), pytest.raises(NotFound):
        services.submit(world.actor, request_for(world, resume=Resume(unknown_id())))


def test_by_the_api(world: World, run: Run, alice: Client) -> None:
    base = f"/api/v1/training/runs/{run.pk}/"
    listed = alice.get(f"{base}checkpoints/").json()
    assert [each["key"] for each in listed] == ["epoch-3", "epoch-2", "epoch-1"]
    made = alice.post(f"{base}continue/", {"checkpoint": "epoch-2"}, content_type="application/json").json()
    assert made["continues"]["run"] == str(run.pk)
    assert (made["continues"]["step"], made["continues"]["size"], made["continues"]["sha256"]) == (2, 7, None)
    assert alice.get(base).json()["continued_by"] == [made["id"]]
    wrong = alice.post(f"{base}continue/", {"checkpoint": "epoch-7"}, content_type="application/json")
    assert wrong.status_code == 400
    assert "checkpoint" in wrong.json()["fields"]


def test_by_the_page(world: World, run: Run, alice: Client) -> None:
    page = text(alice.get(url("detail", run)))
    assert "Continue from checkpoint" in page
    dialog = text(alice.get(url("ask", run, "continue")))
    assert 'value="checkpoint:epoch-3" selected' in dialog
    assert 'value="beginning" selected' in text(alice.get(url("ask", run, "rerun")))
    answer = alice.post(url("rerun", run), {"key": "k", "checkpoint": "checkpoint:epoch-3"})
    shown = text(alice.get(answer.headers["Location"]))
    assert "continues epoch-3.pt of v1" in shown
    assert "v2" in text(alice.get(url("detail", run)))


def test_by_the_form(world: World, run: Run, alice: Client) -> None:
    form = text(alice.get(f"/training/new/?from={run.pk}&checkpoint=checkpoint:epoch-2"))
    assert 'value="checkpoint:epoch-2" selected' in form
    values = form_for(world, parent=str(run.pk), checkpoint="checkpoint:epoch-2")
    assert alice.post("/training/new/", values).status_code == 302
    with acting(platform()):
        assert Continuation.objects.get().step == 2
    gone = alice.post("/training/new/", form_for(world, parent=str(run.pk), checkpoint="checkpoint:epoch-8"))
    assert gone.status_code == 422
    assert "not there any more" in text(gone)


@pytest.mark.programs
def test_a_run_stopped_at_an_epoch_goes_on_with_the_next(world: World) -> None:
    """End to end: two programs under the local driver."""
    first = submit(world, text=COUNTS)
    with acting(platform()):
        until(first.workload, lambda found: "epoch 3\n" in output(found))
        services.stop(platform(), first)
        until(first.workload, lambda found: found.status == Status.STOPPED)
    newest = next(each for each in checkpoints(first) if each.problem is None)  # it may have been ended while it saved
    before = {path.name: path.read_bytes() for path in (root_of(first.output) / "checkpoints").iterdir()}
    with acting(world.actor):
        second = services.rerun(world.actor, Run.objects.get(pk=first.pk), key="on", start=checkpoint_start(None))
    with acting(platform()):
        until(second.workload, lambda found: bool(epochs(found)))
        first_line = epochs(second.workload)[0]
        services.stop(platform(), second)
        until(second.workload, lambda found: found.status == Status.STOPPED)
    assert newest.step is not None
    assert first_line == f"epoch {newest.step + 1}\n"
    assert {path.name: path.read_bytes() for path in (root_of(first.output) / "checkpoints").iterdir()} == before


def epochs(workload: Workload) -> list[str]:
    """Its whole lines about epochs: a word may be there before the rest of its line."""
    return [line for line in output(workload).splitlines(keepends=True) if re.match(r"epoch \d+\n", line)]


def output(workload: Workload) -> str:
    attempt = Attempt.objects.filter(workload=workload, handle__isnull=False).first()
    return log_chunk(attempt).data.decode() if attempt else ""
