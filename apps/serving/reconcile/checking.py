"""Health checks: each running replica is asked at its health path, and what it says is kept for the door.

One that fails `FAILURES` times in a row is led nobody any more; one good answer brings it back. Whoever has the door
refused by a replica tries another one at once, so a replica that dies costs nobody a request until this loop sees it.
"""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.db import connection, transaction

from apps.common.advisory import try_lock
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.serving.asking import NoAnswer, ask
from apps.serving.choices import OPEN
from apps.serving.models import Deployment, Health
from apps.workloads import reach
from apps.workloads.choices import Status
from apps.workloads.models import Attempt

log = logging.getLogger(__name__)

CHECK_S = 2.0
FAILURES = 3
AT_A_TIME = 16
LONGEST_PROBLEM = 200


@dataclass(frozen=True, slots=True)
class Checked:
    """What one replica's try says now; an empty `problem` is a pass."""

    attempt: Attempt
    problem: str


def check_all() -> int:
    """Ask every running replica of every open deployment; how many. None while somebody else is at it.

    Programs that do not answer hold this thread for `CHECK_S` at a time, and so no other one for the same.
    """
    with transaction.atomic():
        return _check_all() if try_lock("service checks") else 0


def _check_all() -> int:
    rows = Deployment.objects.filter(status__in=OPEN).values_list("replica_set_id", "version__health_path")
    paths = dict(rows)
    running = Attempt.objects.filter(
        ended_at__isnull=True, workload__replica_set__in=paths, workload__status=Status.RUNNING, handle__isnull=False
    )
    attempts = list(running.select_related("workload", "node"))
    with ThreadPoolExecutor(max_workers=AT_A_TIME) as threads:
        checked = list(threads.map(lambda each: _check(each, paths[each.workload.replica_set_id]), attempts))
    keep(checked)
    return len(checked)


def _check(attempt: Attempt, path: str) -> Checked:
    try:
        endpoint = reach.endpoint_of(attempt.workload, attempt)
        answer = ask(endpoint, "GET", path, timeout_s=CHECK_S)
    except (DomainError, NoAnswer) as error:
        return Checked(attempt, str(error)[:LONGEST_PROBLEM] or "no answer")
    finally:
        connection.close()  # this thread's own
    return Checked(attempt, "" if answer.is_good else f"HTTP {answer.status}")


def keep(checked: Iterable[Checked]) -> None:
    """Write what changed: a replica that goes on being well, or unwell for the same reason, costs no row."""
    found = list(checked)
    known = {row.pk: row for row in Health.objects.filter(pk__in=[each.attempt.pk for each in found])}
    for each in found:
        _keep(each, known.get(each.attempt.pk))


def _keep(seen: Checked, known: Health | None) -> None:
    failures = 0 if not seen.problem else (known.failures if known else 0) + 1
    was_ready = known is not None and known.ready
    ready = not seen.problem or (was_ready and failures < FAILURES)
    if known is not None and (known.ready, known.problem) == (ready, seen.problem):
        if failures != known.failures and was_ready:
            Health.objects.filter(pk=known.pk).update(failures=failures)
        return
    columns = {"ready": ready, "failures": failures, "problem": seen.problem}
    if known is None or ready != was_ready:
        columns["since"] = db_now()
    Health.objects.update_or_create(
        attempt=seen.attempt,
        defaults=columns,
        create_defaults={**columns, "organisation_id": seen.attempt.workload.organisation_id},
    )
