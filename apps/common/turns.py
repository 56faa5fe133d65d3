"""Rows that a loop takes on turn by turn until they have ended, each by one claimant at a time.

Such rows have `status`, `next_at`, `lease_until`, `fence` and `hurdle`: why the last turn could not do all that it
should, empty for nothing. A turn begins with a claim and ends by giving it back. A claimant that is silent for the
length of its lease was killed, or is so slow that another one follows; then its fence keeps it from writing.
"""

import logging
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import F, Model, Q

from apps.common.actor import Actor
from apps.common.clock import db_now

log = logging.getLogger(__name__)
M = TypeVar("M", bound=Model)
LEASE = timedelta(seconds=120)
AT_ONCE = 20
BROKEN_S = 30.0
"""What could not be advanced for a mistake of ours is tried again after so many seconds."""


class ClaimLost(Exception):
    """Another claimant is at it, or it has ended: whatever this one found counts no more."""


@dataclass(frozen=True, slots=True)
class Turns(Generic[M]):
    """`open`: the statuses of rows that have turns; `running`: the one in which something new may be started.

    `related`: what a claimed row comes with.
    """

    model: type[M]
    open: Set[str]
    running: str
    related: tuple[str, ...]

    @property
    def _rows(self) -> Any:
        return self.model._default_manager

    def advance_due(self, actor: Actor, advance: Callable[[Actor, M], None]) -> int:
        """One turn of every row that is due; how many. One's trouble keeps no other from being looked at."""
        due = self._rows.filter(status__in=sorted(self.open), next_at__lte=db_now()).order_by("next_at")
        return sum(self._turn(actor, pk, advance) for pk in list(due.values_list("pk", flat=True)[:AT_ONCE]))

    def _turn(self, actor: Actor, pk: UUID, advance: Callable[[Actor, M], None]) -> bool:
        """Whether it could be claimed."""
        row = self.claim(pk)
        if row is None:
            return False
        try:
            advance(actor, row)
        except ClaimLost:
            pass  # whoever claimed it since goes on
        except Exception:
            log.exception("%s %s could not be advanced", self.model.__name__, pk)
            self.release(row, again_s=BROKEN_S)
        return True

    def claim(self, pk: UUID) -> M | None:
        """The right to advance it; None while another claimant is at it, or if it is not due."""
        with transaction.atomic():
            now = db_now()
            free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
            rows = self._rows.filter(free, pk=pk, status__in=sorted(self.open), next_at__lte=now)
            if rows.select_for_update(skip_locked=True, no_key=True).first() is None:
                return None
            self._rows.filter(pk=pk).update(fence=F("fence") + 1, lease_until=now + LEASE)
        found: M = self._rows.select_related(*self.related).get(pk=pk)
        return found

    @contextmanager
    def writing(self, row: M) -> Iterator[M]:
        """A transaction with the row locked, as it stands. Raises `ClaimLost`."""
        with transaction.atomic():
            held = self._held(row, self.open).select_for_update(no_key=True).first()
            if held is None:
                raise ClaimLost
            yield held

    def require(self, row: M) -> None:
        """Before something is started outside of a transaction of ours. Raises `ClaimLost`."""
        if not self._held(row, {self.running}).exists():
            raise ClaimLost

    def release(self, row: M, *, again_s: float, hurdle: str = "") -> None:
        """Give the claim back, to be looked at again after so many seconds."""
        rows = self._rows.filter(pk=row.pk, fence=_fence(row))
        rows.update(lease_until=None, next_at=db_now() + timedelta(seconds=again_s), hurdle=hurdle)

    def _held(self, row: M, statuses: Set[str]) -> Any:
        return self._rows.filter(pk=row.pk, fence=_fence(row), status__in=sorted(statuses))


def _fence(row: Model) -> int:
    fence: int = row.fence  # type: ignore[attr-defined]
    return fence
