"""Operations on environments save and restore whole home folders: work for the files process, a child for each."""

from collections.abc import Iterator
from uuid import UUID

from apps.common.actor import system_actor
from apps.envs.reconcile import operations
from apps.storage.runner import Chore
from apps.storage.turns import Piece

DEADLINE_S = 4 * 3600.0


def _due() -> Iterator[Piece]:
    rows = operations.due().values_list("pk", "organisation_id", "environment__owner_id")[:200]
    for pk, organisation_id, owner_id in rows:
        yield Piece(pk, organisation_id, owner_id)


def _advance(operation_id: UUID) -> None:
    operations.advance(system_actor(), operation_id)


def _killed(operation_id: UUID) -> None:
    operations.fail_overdue(system_actor(), operation_id)


OPERATIONS = Chore("operation", 2, DEADLINE_S, _due, _advance, slots=4, killed=_killed)
