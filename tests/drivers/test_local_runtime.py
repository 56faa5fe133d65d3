"""The image phase of the local driver: runtimes are built once, in sight, and shared."""

import os
import signal
import zipfile
from pathlib import Path

import pytest

from apps.workloads.drivers.base import ExitReason, Handle, IsolationLevel, Phase, Progress, RuntimeImage
from apps.workloads.drivers.local import processes, runtime
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.linux import try_lock
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.said import Code, Said
from tests.drivers.kit import VOLUMES, Kit, eventually


@pytest.fixture
def fresh(plain: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """A home without runtimes, and an installer that finds nothing but what a test gives it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return Kit(LocalDriver(tmp_path / "fresh", IsolationLevel.L0, False, volumes=VOLUMES), plain.code, plain.output)


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A package `answer` as a requirement that needs no index."""
    path = tmp_path / "answer-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("answer.py", "VALUE = 42\n")
        archive.writestr("answer-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n")
        archive.writestr("answer-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("answer-1.0.dist-info/RECORD", "")
    return f"answer @ file://{path}"


def runtimes(kit: Kit) -> Path:
    return kit.code.parent / "fresh" / "runtimes"


def shows(kit: Kit, handle: Handle, text: str) -> None:
    kit.wait(handle, lambda seen: seen.progress is not None and text in seen.progress.text)


def test_requirements_are_installed_in_sight_and_only_once(fresh: Kit, wheel: str) -> None:
    image = RuntimeImage("with answer", (wheel,))
    request = fresh.python("import answer; print(answer.VALUE)", image=image)
    handle = fresh.launch(request)
    first = fresh.wait(handle)
    assert first.exit is not None
    assert first.exit.succeeded, first.exit
    assert fresh.text(handle) == "42\n"
    log = fresh.log(handle).decode()
    assert "[plstack] Creating the Python environment of with answer" in log
    assert "[plstack] Installing 1 packages" in log
    setup_log = runtimes(fresh).parent / "runs" / handle.ref / "setup.log"
    assert "Successfully installed answer-1.0" in setup_log.read_text()

    again = fresh.launch(fresh.python("import answer", image=RuntimeImage("same under another name", (wheel,))))
    seen = fresh.wait(again)
    assert seen.exit is not None
    assert seen.exit.succeeded
    assert fresh.log(again) == b""
    assert seen.steps[0].seconds < first.steps[0].seconds


def test_what_cannot_be_installed_is_told_with_the_installers_words(fresh: Kit) -> None:
    request = fresh.request("true", image=RuntimeImage("broken", ("no-such-package==1",)))
    handle = fresh.launch(request)
    seen = fresh.wait(handle)
    assert seen.exit is not None
    assert seen.exit.reason is ExitReason.IMAGE_FAILED
    assert "No matching distribution found for no-such-package==1" in seen.exit.detail
    assert seen.ran_for_s is None
    assert [(step.name, step.done) for step in seen.steps] == [(Phase.IMAGE, False)]
    assert [path for path in runtimes(fresh).iterdir() if path.is_dir()] == []


def test_a_second_attempt_waits_for_the_first_ones_installation(fresh: Kit) -> None:
    request = fresh.request("true")
    runtimes(fresh).mkdir(parents=True)
    lock = try_lock((runtimes(fresh) / runtime.key(request.image)).with_suffix(".lock"))
    assert lock is not None
    handle = fresh.launch(request)
    shows(fresh, handle, "Waiting for another installation of plain")
    assert fresh.driver.observe(handle).phase is Phase.IMAGE
    os.close(lock)
    assert fresh.wait_exit(handle).succeeded


def test_an_attempt_that_waits_can_be_stopped(fresh: Kit) -> None:
    request = fresh.request("true")
    runtimes(fresh).mkdir(parents=True)
    lock = try_lock((runtimes(fresh) / runtime.key(request.image)).with_suffix(".lock"))
    assert lock is not None
    handle = fresh.launch(request)
    shows(fresh, handle, "Waiting")
    fresh.driver.stop(handle, 60)
    ended = fresh.wait_exit(handle)
    assert (ended.code, ended.signal, ended.reason) == (None, None, ExitReason.STOPPED)
    os.close(lock)


def test_a_killed_installation_is_begun_anew_by_the_next(fresh: Kit, wheel: str) -> None:
    image = RuntimeImage("with answer", (wheel,))
    first = fresh.launch(fresh.request("true", image=image))
    shows(fresh, first, "Creating")
    eventually(lambda: (runtimes(fresh) / runtime.key(image)).is_dir(), bool)
    processes.send(processes.marked(MARKER, first.ref), signal.SIGKILL)
    assert fresh.wait(first).phase is Phase.LOST
    assert not runtime.is_complete(runtimes(fresh) / runtime.key(image))
    ended, text = fresh.run(fresh.python("import answer; print(answer.VALUE)", image=image))
    assert ended.succeeded, ended
    assert text == "42\n"


def test_the_key_depends_on_what_is_installed_and_on_nothing_else() -> None:
    image = RuntimeImage("a", ("numpy==2.2.0", "scipy==1.15.0"))
    assert runtime.key(image) == runtime.key(RuntimeImage("b", ("scipy==1.15.0", "numpy==2.2.0")))
    assert runtime.key(image) != runtime.key(RuntimeImage("a", ("numpy==2.2.1", "scipy==1.15.0")))


def test_progress_follows_the_download(tmp_path: Path) -> None:
    download = runtime.Download(tmp_path)
    assert download.progress() is None
    download.see("Collecting torch==2.6.0 (from -r /srv/requirements.txt (line 1))")
    assert download.progress() == Progress(Said(Code.COLLECTING, {"name": "torch==2.6.0"}))
    download.see("  Downloading https://example.org/whl/torch-2.6.0-cp311-linux_x86_64.whl (766.7 MB)")
    partial = tmp_path / "pip-unpack-x" / "torch-2.6.0-cp311-linux_x86_64.whl"
    partial.parent.mkdir()
    with open(partial, "wb") as file:
        file.truncate(383_350_000)
    assert download.progress() == Progress(
        Said(Code.DOWNLOADING, {"name": "torch-2.6.0-cp311-linux_x86_64.whl", "size": "766.7 MB"}), 0.5
    )
    download.see("Installing collected packages: a, b, torch")
    assert download.progress() == Progress(Said(Code.INSTALLING, {"count": 3}))
