"""`.ci/kube`: tests against a cluster where one can be had, a plain word where none can, and nothing left running."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "kube"
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a cluster")


class Stage:
    """A cluster's tools, and a make, that note that they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        (folder / "bin").mkdir()
        (folder / "kube" / "bin").mkdir(parents=True)
        self.program("kube/bin/kubelet", "")

    def program(self, name: str, body: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\necho {Path(name).name} >>{self.calls}\n{body}\n")
        path.chmod(0o755)

    def tools(self, up: str = "", tests: str = "") -> None:
        self.program("tools/up", up)
        self.program("tools/down", "")
        self.program("bin/make", tests)

    def run(self, seconds: int = 1200) -> tuple[int, str, list[str]]:
        env = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PLSTACK_KUBE_TOOLS": str(self.folder / "tools"),
            "KUBE_DIR": str(self.folder / "kube"),
        }
        done = subprocess.run([SCRIPT, str(seconds)], env=env, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, self.calls.read_text().split() if self.calls.exists() else []


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_without_a_cluster_it_says_so_and_succeeds(stage: Stage) -> None:
    code, said, calls = stage.run()
    assert (code, calls) == (0, [])
    assert "skipped, there is no" in said


@ROOT_ONLY
def test_the_tests_run_and_the_cluster_is_ended(stage: Stage) -> None:
    stage.tools(tests='[ "$KUBECONFIG" = "$KUBE_DIR/admin.conf" ] && [ "$1" = test-kube ]')
    code, _said, calls = stage.run()
    assert (code, calls) == (0, ["up", "make", "down"])


@ROOT_ONLY
def test_tests_that_fail_fail_it_and_the_cluster_is_ended(stage: Stage) -> None:
    stage.tools(tests="exit 2")
    code, said, calls = stage.run()
    assert (code, calls) == (1, ["up", "make", "down"])
    assert "status 2" in said


@ROOT_ONLY
def test_a_cluster_that_does_not_start_fails_nothing(stage: Stage) -> None:
    stage.tools(up="exit 1")
    code, said, calls = stage.run()
    assert (code, calls) == (0, ["up", "down"])
    assert "skipped, the cluster did not start" in said


@ROOT_ONLY
def test_too_little_time_starts_nothing(stage: Stage) -> None:
    stage.tools()
    code, said, calls = stage.run(seconds=200)
    assert (code, calls) == (0, [])
    assert "200 s are left" in said


@ROOT_ONLY
def test_somebody_elses_cluster_is_left_alone(stage: Stage) -> None:
    stage.tools()
    (stage.folder / "kube" / "run").mkdir()
    (stage.folder / "kube" / "run" / "apiserver.pid").write_text(str(os.getpid()))
    code, said, calls = stage.run()
    assert (code, calls) == (0, [])
    assert "runs in" in said
