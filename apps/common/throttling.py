"""Rate limits of the API per person, token or address and minute, counted in Postgres."""

import time
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.common.models import RequestCount
from apps.common.requests import address_of

WINDOW_S = 60

HIT = """
INSERT INTO common_requestcount AS c (who, minute, count) VALUES (%s, %s, 1)
ON CONFLICT (who) DO UPDATE SET
    count = CASE WHEN c.minute = EXCLUDED.minute THEN c.count + 1 ELSE 1 END, minute = EXCLUDED.minute
RETURNING count
"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a minute: requests and seconds."""

    limit: int
    count: int
    left_s: int

    @property
    def is_spent(self) -> bool:
        return self.count > self.limit

    def headers(self) -> dict[str, str]:
        """RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset (seconds), sent with every response."""
        remaining = max(0, self.limit - self.count)
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": str(self.left_s),
        }


def count_request(who: str, limit: int, now: float) -> Allowance:
    """Count one more request of `who`; `now` in seconds."""
    with connection.cursor() as cursor:
        cursor.execute(HIT, [who, int(now // WINDOW_S)])
        (count,) = cursor.fetchone()
    return Allowance(limit, int(count), WINDOW_S - int(now % WINDOW_S))


def forget_old() -> int:
    """Delete counts of callers not seen for an hour; returns how many."""
    deleted, _by_model = RequestCount.objects.filter(minute__lt=int(time.time() // WINDOW_S) - 60).delete()
    return int(deleted)


class RateLimit(BaseThrottle):
    """Counts by token if one was sent, else by person, else by address."""

    def allow_request(self, request: Request, view: object) -> bool:
        who, kind = _who(request)
        self.allowance = count_request(who, settings.API_REQUESTS_PER_MINUTE[kind], time.time())
        request._request.allowance = self.allowance  # type: ignore[attr-defined]
        return not self.allowance.is_spent

    def wait(self) -> float:
        return float(self.allowance.left_s)


def _who(request: Request) -> tuple[str, str]:
    token = getattr(request.auth, "pk", None)
    if token is not None:
        return f"token:{token}", getattr(request.auth, "allowance", "token")
    if request.user is not None and request.user.is_authenticated:
        return f"person:{request.user.pk}", "person"
    return f"address:{address_of(request._request)}", "anonymous"
