"""Smoke requests: what is about to take over is asked once as its owner wishes, and what came of it is kept.

A program that is asked may never answer. So the loop that takes deployments on asks nobody: this one does, with all
that are due at once, for at most `LONGEST_S`, and one at a time in all processes, since its thread serves everybody.
"""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction

from apps.common.advisory import try_lock
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.serving.asking import NoAnswer, ask
from apps.serving.choices import DeploymentStatus
from apps.serving.models import LONGEST_PROBLEM, Deployment
from apps.serving.selectors import is_ready, well
from apps.workloads import reach
from apps.workloads.models import Attempt

LONGEST_S = 30.0
AT_A_TIME = 16


def smoke_due() -> int:
    """Ask every deployment that is ready to take over but for this; how many. None while somebody else is at it."""
    with transaction.atomic():
        if not try_lock("smoke requests"):
            return 0
        rows = Deployment.objects.filter(status=DeploymentStatus.PREPARING, smoked_at__isnull=True)
        waiting = rows.exclude(version__smoke_path="").select_related("version", "replica_set").order_by("created_at")
        due = [(each, attempt) for each in waiting if is_ready(each) and (attempt := well(each).first())][:AT_A_TIME]
        with ThreadPoolExecutor(max_workers=AT_A_TIME) as threads:
            problems = list(threads.map(lambda pair: _problem(*pair), due))
        for (deployment, _attempt), problem in zip(due, problems, strict=True):
            rows.filter(pk=deployment.pk).update(smoked_at=db_now(), smoke_problem=problem)
    return len(due)


def _problem(deployment: Deployment, attempt: Attempt) -> str:
    """Empty for an answer from 200 to 299."""
    version = deployment.version
    try:
        answer = ask(
            reach.endpoint_of(attempt.workload, attempt),
            "POST",
            version.smoke_path,
            body=version.smoke_body.encode(),
            headers={"Content-Type": "application/json", "X-Request-Id": f"smoke-{deployment.pk.hex[:12]}"},
            timeout_s=min(version.timeout_s, LONGEST_S),
        )
    except (DomainError, NoAnswer) as error:
        return str(error)[:LONGEST_PROBLEM] or "no answer"
    finally:
        connection.close()  # this thread's own
    return "" if answer.is_good else f"HTTP {answer.status}: {answer.text}"[:LONGEST_PROBLEM]
