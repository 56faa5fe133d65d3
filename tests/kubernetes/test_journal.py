"""The record of an attempt on the zone's storage, and who may write what into it."""

import signal
import tempfile
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.base import Exit, ExitReason, IsolationLevel, Observation, Phase
from apps.workloads.drivers.kubernetes.journal import Journals, StoredRun
from apps.workloads.drivers.local.records import RunSpec, encode_spec
from apps.workloads.drivers.local.stopping import StopFile
from apps.workloads.drivers.request import DATA
from apps.workloads.drivers.said import Code, Said
from tests.kubernetes.test_manifest import CLUSTER, SOURCE, TENANT, request

KILLED = Exit(None, signal.SIGKILL, ExitReason.SIGNALLED)


def stored(root: Path) -> StoredRun:
    cluster = CLUSTER.__class__(
        "ours", {}, CLUSTER.image, {DATA: SOURCE.__class__(SOURCE.volume, "own", root)}, b"secret"
    )
    ref = str(uuid4())
    (root / "own" / TENANT.hex / "runs" / ref).mkdir(parents=True)
    return Journals().run(cluster, ref)


def test_what_is_lost_is_told_to_stop_should_it_run_all_the_same(tmp_path: Path) -> None:
    run = stored(tmp_path)
    run.lose(Said(Code.POD_GONE))
    seen = run.observe()
    assert seen.phase is Phase.LOST
    assert seen.exit is not None
    assert seen.exit.said == Said(Code.POD_GONE)
    assert StopFile(run.directory.stop).is_asked()


def test_a_record_that_a_shim_has_written_stays(tmp_path: Path) -> None:
    run = stored(tmp_path)
    run.write(Observation(Phase.EXITED, exit=Exit(0, None, ExitReason.EXITED)))
    run.lose(Said(Code.POD_GONE))
    seen = run.observe()
    assert seen.exit is not None
    assert seen.exit.succeeded


@pytest.mark.parametrize(
    ("ended", "blamed"),
    [
        (KILLED, True),
        (Exit(None, signal.SIGSEGV, ExitReason.SIGNALLED), False),
        (Exit(137, None, ExitReason.EXITED), False),
        (Exit(None, signal.SIGKILL, ExitReason.STOPPED), False),
    ],
)
def test_only_a_kill_that_nobody_asked_for_is_blamed_on_memory(tmp_path: Path, ended: Exit, blamed: bool) -> None:
    run = stored(tmp_path)
    run.directory.spec.write_bytes(encode_spec(RunSpec(request(), IsolationLevel.L1, None, False, "/plstack")))
    run.write(Observation(Phase.EXITED, ran_for_s=3.0, exit=ended))
    assert run.may_be_out_of_memory() is blamed
    run.blame_memory()
    seen = run.observe()
    assert seen.exit is not None
    assert seen.exit.reason is (ExitReason.OOM if blamed else ended.reason)
    assert seen.ran_for_s == 3.0
    if blamed:
        assert seen.exit.said == Said(Code.MEMORY_EXCEEDED, {"limit_mib": 2048})
        assert not run.may_be_out_of_memory()


def test_a_record_is_the_last_word_once_it_is_settled(tmp_path: Path) -> None:
    run = stored(tmp_path)
    assert not run.is_settled
    run.write(Observation(Phase.EXITED, exit=KILLED))
    assert not run.is_settled
    run.settle()
    assert run.is_settled


@given(st.lists(st.uuids(), unique=True, max_size=5), st.lists(st.uuids(), unique=True, min_size=1, max_size=3))
def test_every_journal_is_found_again_by_its_attempt_alone(refs: list[object], tenants: list[object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = stored(Path(folder))
        cluster, own = run.cluster, Path(folder, "own")
        for number, ref in enumerate(refs):
            (own / str(tenants[number % len(tenants)]).replace("-", "") / "runs" / str(ref)).mkdir(
                parents=True, exist_ok=True
            )
        journals = Journals()
        assert set(journals.refs(cluster)) == {run.ref, *map(str, refs)}
        for ref in refs:
            assert journals.run(cluster, str(ref)).exists
