"""The token with which the program of an attempt speaks of its own run, and of nothing else.

It is derived from the attempt, so that nothing is stored and a program that is launched again by another process is
given the same one. It is good while its attempt lives.
"""

import hmac
from dataclasses import dataclass
from uuid import UUID

from django.utils.crypto import salted_hmac

from apps.common.actor import Actor, Channel, system_actor
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.workloads import kinds
from apps.workloads.models import Attempt

PREFIX = "plsrun_"


@dataclass(frozen=True, slots=True)
class RunGrant:
    """What a token opens: the run of one living attempt. `allowance`: which limit of requests it has."""

    pk: str  # by which requests are counted
    attempt_id: UUID
    workload_id: UUID
    actor: Actor
    allowance: str = "run"


def token_of(attempt_id: UUID) -> str:
    return f"{PREFIX}{attempt_id.hex}_{_proof(attempt_id)}"


def grant_of(token: str) -> RunGrant | None:
    """None for a token that is none, and for one whose attempt has ended."""
    attempt_id = _attempt_of(token)
    if attempt_id is None:
        return None
    with acting(system_actor()):
        attempt = Attempt.objects.select_related("workload__owner").filter(pk=attempt_id, ended_at=None).first()
    return None if attempt is None else _grant(attempt)


def _attempt_of(token: str) -> UUID | None:
    name, _sign, proof = token.removeprefix(PREFIX).partition("_")
    try:
        attempt_id = UUID(hex=name)
    except ValueError:
        return None
    given = hmac.compare_digest(proof.encode(), _proof(attempt_id).encode())
    return attempt_id if token.startswith(PREFIX) and given else None


def _proof(attempt_id: UUID) -> str:
    return salted_hmac("tracking.run_token", str(attempt_id), algorithm="sha256").hexdigest()


def _grant(attempt: Attempt) -> RunGrant:
    """The program acts for its owner, with the one right to see work; which work the grant says."""
    workload = attempt.workload
    actor = Actor(
        user_id=workload.owner_id,
        label=workload.owner.display_name,
        organisation_id=workload.organisation_id,
        permissions=frozenset({Permission.ORGANISATION_VIEW, kinds.kind_of(workload).rights.view}),
        channel=Channel.API,
    )
    return RunGrant(f"run:{attempt.pk}", attempt.pk, workload.pk, actor)
