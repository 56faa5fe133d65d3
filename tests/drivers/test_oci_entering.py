"""The root of a run where the kernel gives more or less: id-mapped, in a user namespace, or as hard links."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apps.workloads.drivers.local.oci import entering
from apps.workloads.drivers.local.oci.entering import Entry
from tests.drivers.conftest import obstacle
from tests.drivers.registries import BUSYBOX

PROJECT = str(Path(__file__).parents[2])
NOBODY = 65534
# As on a kernel or a file system that refuses: the calls of the C library that mount all fail.
NO_MOUNTS = (
    "import ctypes; real = ctypes.CDLL(None, use_errno=True); "
    "fake = type('C', (), {'__getattr__': lambda s, n: (lambda *x: -1) if n == 'mount' else getattr(real, n)})(); "
    "ctypes.CDLL = lambda *a, **k: fake; "
)
SCRIPT = "cat /data/kept; touch /data/new 2>&1; rm /data/kept 2>&1; ls /data /workspace; ls -nd /data"


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    if BUSYBOX is None or obstacle():
        pytest.skip("needs bubblewrap and busybox-static")
    tree, place = tmp_path / "tree", tmp_path / "place"
    (tree / "bin").mkdir(parents=True)
    (tree / "data").mkdir()
    (tree / "data" / "kept").write_text("kept\n")
    shutil.copy(BUSYBOX, tree / "bin" / "busybox")
    for name in ("sh", "cat", "touch", "rm", "ls"):
        os.link(tree / "bin" / "busybox", tree / "bin" / name)
    place.mkdir()
    return Entry(str(tree), str(place), None, ("/proc", "/dev", "/workspace/code"), ())


def entered(entry: Entry, python: str = sys.executable, uid: int | None = None) -> list[str]:
    own_users = [] if entry.uid else ["--unshare-user"]
    sandbox = ["bwrap", *own_users, "--bind", entry.merged, "/", "--proc", "/proc", "--dev", "/dev"]
    command = [*entering.command(entry, PROJECT, python), *sandbox, "/bin/sh", "-c", SCRIPT]
    who = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", timeout=60, **who)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    assert (Path(entry.tree) / "data" / "kept").read_text() == "kept\n"  # whatever became of the run's own
    assert not (Path(entry.tree) / "workspace").exists()
    return str(done.stdout).splitlines()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts for others")
def test_as_root_the_files_are_the_tenants(entry: Entry) -> None:
    told = entered(Entry(entry.tree, entry.place, 210_007, entry.folders, entry.files))
    assert told[:3] == ["kept", "/data:", "new"]
    assert sorted(path.name for path in (Path(entry.place) / "upper").iterdir()) == ["data", "dev", "proc", "workspace"]
    assert told[-1].split()[2] == "210007"  # as it shows, and as what was changed lies on the disk
    assert (Path(entry.place) / "upper" / "data").stat().st_uid == 210_007
    assert (Path(entry.tree) / "data").stat().st_uid == 0


def test_another_user_has_it_in_a_user_namespace(entry: Entry, tmp_path: Path) -> None:
    python, uid = sys.executable, None
    if os.geteuid() == 0:
        found = shutil.which("python3", path="/usr/bin")
        if found is None:
            pytest.skip("no Python that another user may start")
        python, uid = found, NOBODY
        for parent in list(tmp_path.parents)[:3]:
            parent.chmod(0o755)
        for path in [tmp_path, *tmp_path.rglob("*")]:
            os.lchown(path, NOBODY, NOBODY)
    told = entered(entry, python, uid)
    assert told[:3] == ["kept", "/data:", "new"]
    assert told[-1].split()[2] == str(os.getuid() if uid is None else uid)


def test_without_these_it_is_read_only_and_says_so(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entering, "BOOT", f"{NO_MOUNTS}{entering.BOOT}")
    told = entered(Entry(entry.tree, entry.place, os.getuid(), entry.folders, entry.files))
    assert told[0].startswith("[plstack] This machine gives the run no layer of its own")
    assert told[1:4] == [
        "kept", "touch: /data/new: Read-only file system", "rm: can't remove '/data/kept': Read-only file system",
    ]  # fmt: skip
    assert told[4:8] == ["/data:", "kept", "", "/workspace:"]
