"""MLflow's own client against the platform, where PLSTACK_MLFLOW names an environment that has `mlflow-skinny`.

uv venv /var/tmp/mlflow && uv pip install --python /var/tmp/mlflow/bin/python mlflow-skinny
PLSTACK_MLFLOW=/var/tmp/mlflow make test T="tests/tracking/test_mlflow.py -n 0"
"""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apps.common.scoping import acting
from apps.tracking import selectors
from apps.tracking.run_tokens import token_of
from apps.workloads.models import Attempt
from tests.builders import make_world, platform, submit_workload
from tests.tracking.kit import kept

PROGRAM = Path(__file__).parent / "mlflow_program.py"
CLIENT = os.environ.get("PLSTACK_MLFLOW", "")

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CLIENT, reason="PLSTACK_MLFLOW names no environment"),
]


def test_the_real_client_logs_reads_nests_and_searches(live_server: Any, tmp_path: Path) -> None:
    with acting(platform()):
        world = make_world()
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(platform()):
        attempt = Attempt.objects.create(
            organisation_id=workload.organisation_id, workload=workload, number=1, node=world.node
        )
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "MLFLOW_TRACKING_URI": live_server.url,
        "MLFLOW_TRACKING_TOKEN": token_of(attempt.pk),
        "MLFLOW_RUN_ID": workload.pk.hex,
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    }
    done = subprocess.run(
        [f"{CLIENT}/bin/python", PROGRAM], env=variables, capture_output=True, text=True, timeout=200, check=False
    )
    assert "spoken" in done.stdout, done.stderr[-3000:]
    assert kept(workload.pk).steps.tolist() == [0, 1]
    with acting(world.actor):
        assert [each.name for each in selectors.nested(world.actor, workload.pk)] == ["inside"]
        assert len(selectors.names(world.actor, workload.pk)) == 1002
