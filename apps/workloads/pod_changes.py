"""What a cluster tells of a pod: its attempt is looked at now, not when it would be due."""

import logging
import threading
from collections.abc import Iterable
from uuid import UUID

from django.db import Error, close_old_connections, connection
from django.db.models.functions import Now

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.workloads import nudge
from apps.workloads.models import Attempt
from apps.workloads.programs import attempts_by_ref

log = logging.getLogger(__name__)
GATHER_S = 0.15
"""A pod that starts or ends changes several times in a moment, and a burst of them at once."""


class Gathering:
    """Passes on, together, what came within a moment. A call holds nobody up; a loss costs until the next due look."""

    def __init__(self) -> None:
        self._refs: set[str] = set()
        self._lock = threading.Lock()

    def add(self, refs: Iterable[str]) -> None:
        with self._lock:
            is_first = not self._refs
            self._refs.update(refs)
        if is_first:
            timer = threading.Timer(GATHER_S, self._pass_on)
            timer.daemon = True
            timer.start()

    def _pass_on(self) -> None:
        with self._lock:
            refs, self._refs = self._refs, set()
        try:
            close_old_connections()
            with acting(system_actor()):
                look_now(refs)
        except Error:
            log.info("pods changed, and the database could not be told: %s", len(refs))
        finally:
            connection.close()


def look_now(refs: Iterable[str]) -> int:
    """Make the attempts of these programs due, and wake who looks at them; how many there are."""
    attempts = set(attempts_by_ref(UUID(ref) for ref in refs).values())
    living = Attempt.objects.filter(pk__in=attempts, ended_at__isnull=True, next_check_at__gt=Now())
    found = living.update(next_check_at=Now())
    if found:
        nudge.reconcile()
    return found
