"""What work may have as it starts: asked for all of a pass together, and opened for one attempt at its launch.

Rights end between a submission and a start: a secret is deleted, a person leaves a department, a role changes.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models.functions import Now

from apps.common.permissions import Permission as P
from apps.common.sealing import Unreadable
from apps.secrets.choices import Lost
from apps.secrets.models import Secret
from apps.secrets.references import SecretReference
from apps.secrets.values import opened
from apps.tenants.models import Department

log = logging.getLogger(__name__)

Parents = Mapping[UUID, UUID | None]


@dataclass(frozen=True, slots=True)
class SecretRequest:
    """The secrets of a workload, and who has to have a right to them: its owner, as their membership is now."""

    workload_id: UUID
    organisation_id: UUID
    owner_id: int
    department_id: UUID | None
    permissions: frozenset[P]
    references: tuple[SecretReference, ...]


@dataclass(frozen=True, slots=True)
class LostSecret:
    name: str
    lost: Lost


def lost_secrets(requests: Sequence[SecretRequest]) -> dict[UUID, LostSecret]:
    """For each workload that has one, the first secret that it may not have. Two queries, however many are asked."""
    secrets = _rows(requests)
    parents = _parents(secrets.values())
    found: dict[UUID, LostSecret] = {}
    for request in requests:
        for reference in request.references:
            secret = secrets.get(UUID(reference.secret))
            lost = _lost(request, secret, parents)
            if lost is not None:
                found.setdefault(request.workload_id, LostSecret(secret.name if secret else reference.name, lost))
    return found


def values(request: SecretRequest) -> list[str | None]:
    """The values of its references, in their order; None for one that it may not have or that cannot be read."""
    secrets = _rows([request])
    parents = _parents(secrets.values())
    found = [_value(request, secrets.get(UUID(each.secret)), parents) for each in request.references]
    Secret.objects.filter(pk__in=secrets).update(last_used_at=Now())
    return found


def _value(request: SecretRequest, secret: Secret | None, parents: Parents) -> str | None:
    if secret is None or _lost(request, secret, parents) is not None:
        return None
    try:
        return opened(secret).decode()
    except Unreadable:
        log.error("the secret %s cannot be read: the sealing keys do not fit", secret.pk)
        return None


def _rows(requests: Iterable[SecretRequest]) -> dict[UUID, Secret]:
    ids = {UUID(each.secret) for request in requests for each in request.references}
    return dict(Secret.objects.in_bulk(ids)) if ids else {}


def _lost(request: SecretRequest, secret: Secret | None, parents: Parents) -> Lost | None:
    """Why it may not have the secret; None where it may."""
    if secret is None or secret.organisation_id != request.organisation_id:
        return Lost.DELETED
    theirs = secret.owner_id in (None, request.owner_id)
    inside = secret.department_id is None or _is_below(request.department_id, secret.department_id, parents)
    return None if theirs and inside and P.SECRETS_USE in request.permissions else Lost.RIGHT


def _is_below(department_id: UUID | None, above: UUID, parents: Parents) -> bool:
    while department_id is not None and department_id != above:
        department_id = parents.get(department_id)
    return department_id == above


def _parents(secrets: Iterable[Secret]) -> Parents:
    """Of all departments of the organisations that limit one of these to a department."""
    limiting = {secret.organisation_id for secret in secrets if secret.department_id is not None}
    if not limiting:
        return {}
    return dict(Department.objects.filter(organisation_id__in=limiting).values_list("pk", "parent_id"))
