"""MLflow's own client against the platform, where PLSTACK_MLFLOW names an environment that has it.

python3 -m venv /var/tmp/mlflow && /var/tmp/mlflow/bin/pip install mlflow-skinny==3.17.2
PLSTACK_MLFLOW=/var/tmp/mlflow make test T="tests/tracking/test_mlflow.py -n 0"

`.ci/run` prepares one. With `mlflow scikit-learn xgboost` in it, autologging is tried, too.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.storage.services import root_of
from apps.tracking import selectors
from apps.tracking.run_tokens import token_of
from apps.training.models import Run
from apps.workloads.models import Attempt
from tests.builders import actor_of, make_world, platform
from tests.tracking.kit import kept
from tests.training.kit import submit

HERE = Path(__file__).parent
CLIENT = os.environ.get("PLSTACK_MLFLOW", "")
LIBRARIES = bool(CLIENT) and any(Path(CLIENT).glob("lib/python3*/site-packages/xgboost"))

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CLIENT, reason="PLSTACK_MLFLOW names no environment"),
]


@pytest.fixture
def run(tmp_path: Path, settings: LazySettings) -> Run:
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        world = make_world()
    made = submit(world)
    with acting(platform()):
        Attempt.objects.create(organisation_id=made.organisation_id, workload=made.workload, number=1, node=world.node)
    return made


def spoken(program: str, run: Run, address: str, home: Path) -> str:
    """What a program of the run prints that has the run's variables."""
    with acting(platform()):
        attempt = Attempt.objects.get(workload_id=run.workload_id)
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "MLFLOW_TRACKING_URI": address,
        "MLFLOW_TRACKING_TOKEN": token_of(attempt.pk),
        "MLFLOW_RUN_ID": run.workload_id.hex,
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    }
    command = [f"{CLIENT}/bin/python", str(HERE / program)]
    done = subprocess.run(command, env=variables, cwd=home, capture_output=True, text=True, timeout=400, check=False)
    return done.stdout + done.stderr[-6000:]


def test_the_real_client_logs_reads_nests_and_searches(live_server: Any, tmp_path: Path, run: Run) -> None:
    said = spoken("mlflow_program.py", run, live_server.url, tmp_path)
    assert "spoken" in said, said
    assert kept(run.workload_id).steps.tolist() == [0, 1]
    actor = actor_of(run.owner, run.organisation)
    with acting(actor):
        assert [each.name for each in selectors.nested(actor, run.workload_id)] == ["inside"]
        assert len(selectors.names(actor, run.workload_id)) == 1002
        assert (root_of(run.output) / "artifacts" / "texts" / "notes.txt").read_text() == "words"


@pytest.mark.skipif(not LIBRARIES, reason="PLSTACK_MLFLOW has no xgboost")
def test_libraries_log_by_themselves(live_server: Any, tmp_path: Path, run: Run) -> None:
    said = spoken("mlflow_autologging.py", run, live_server.url, tmp_path)
    assert "logged 3" in said, said
    for words in ("Encountered unexpected error", "Failed to"):
        assert words not in said, said
