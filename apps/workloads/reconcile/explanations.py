"""Writing why tasks wait: in bulk, only what changed, and of a long queue a part in each pass.

The head of the queue and whatever got another cause are written first; a window goes round the rest, so that positions
and distances there are at most some passes old. Nothing is left out for good.
"""

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

import scheduler
from apps.common.actor import Actor
from apps.workloads import announce
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.queueing import promises
from apps.workloads.reconcile.explaining import explanation_of, kin_of

Json = dict[str, Any]

# In one pass: so many from the head, so many whose cause is another, so many of the rest.
HEAD, CHANGED, WINDOW = 200, 1000, 500
# Times within a minute of each other are the same answer.
MINUTE = 60.0

_WRITE = """
UPDATE workloads_workload AS workload SET explanation = said.explanation, explained_at = statement_timestamp()
FROM unnest(%s::uuid[], %s::jsonb[]) AS said(id, explanation), workloads_workload AS before
WHERE workload.id = said.id AND workload.status = %s AND before.id = workload.id
RETURNING workload.id, coalesce(before.explanation->'reserved', '[]')
"""


class ExplanationCache:
    """What was last written of each task that waits: its cause, and a digest of the whole (None: not known)."""

    def __init__(self) -> None:
        rows = Workload.objects.filter(status=Status.QUEUED).values_list("pk", "explanation__cause")
        self._said: dict[str, tuple[str | None, int | None]] = {str(pk): (cause, None) for pk, cause in rows}
        self._turn = 0

    def say(
        self, actor: Actor, waits: Sequence[scheduler.Wait], tasks: Mapping[str, scheduler.Task], known: bool
    ) -> int:
        """Write of the world's waits, in the order of its queue, what is due; how many were due and were not written.

        `known`: estimates may be shown.
        """
        due, left = self._due(waits)
        kin = kin_of([tasks[wait.task_id] for wait in waits], {wait.task_id for wait in due})
        said = {
            wait.task_id: explanation_of(wait, tasks[wait.task_id].organisation, known=known, kin=kin[wait.task_id])
            for wait in due
        }
        self.write(actor, said)
        return left

    def _due(self, waits: Sequence[scheduler.Wait]) -> tuple[list[scheduler.Wait], int]:
        """What is looked at in this pass, and how many changed causes have to wait for the next one."""
        rest = waits[HEAD:]
        changed = [wait for wait in rest if self._cause(wait.task_id) != wait.cause.code.value]
        window = rest[self._turn : self._turn + WINDOW]
        self._turn = self._turn + WINDOW if self._turn + WINDOW < len(rest) else 0
        due = {wait.task_id: wait for wait in (*waits[:HEAD], *changed[:CHANGED], *window)}
        return list(due.values()), max(0, len(changed) - CHANGED)

    def _cause(self, task: str) -> str | None:
        return self._said.get(task, (None, None))[0]

    def write(self, actor: Actor, explanations: Mapping[str, Json]) -> None:
        """Keep the newest explanations; an event where the dominant cause changed, and where the room that was kept."""
        marks = {task: (said["cause"], digest_of(said)) for task, said in explanations.items()}
        fresh = {task: said for task, said in explanations.items() if self._said.get(task) != marks[task]}
        kept = _write(fresh)
        _tell(actor, {task: fresh[task] for task in kept if self._cause(task) != fresh[task]["cause"]})
        promises.tell(actor, {task: (before, fresh[task].get("reserved") or []) for task, before in kept.items()})
        self._said |= {task: marks[task] for task in kept}

    def __len__(self) -> int:
        return len(self._said)

    def forget(self, task: str) -> None:
        """It waits no more, so it is new when it comes back."""
        self._said.pop(task, None)

    def keep_only(self, waiting: Container[str]) -> None:
        self._said = {task: said for task, said in self._said.items() if task in waiting}


def digest_of(explanation: Json) -> int:
    """Of all that is said, times by the minute. Of use inside one process only."""
    return hash(_frozen(explanation))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((name, _frozen(inner)) for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(inner) for inner in value)
    return round(value / MINUTE) if isinstance(value, float) else value


def _write(explanations: Mapping[str, Json]) -> dict[str, list[str]]:
    """Those that still waited, with the nodes where they had been told that room is kept."""
    if not explanations:
        return {}
    ids = [UUID(task) for task in explanations]
    texts = [json.dumps(explanation) for explanation in explanations.values()]
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, [ids, texts, Status.QUEUED])
        return {str(task): json.loads(reserved) for task, reserved in cursor.fetchall()}


def _tell(actor: Actor, news: Mapping[str, Json]) -> None:
    workloads = Workload.objects.filter(pk__in=list(news)).only(*announce.EVENT_COLUMNS)
    said = {workload: news[str(workload.pk)] for workload in workloads}
    announce.events(actor, "waiting", {w: {"cause": why["cause"], "params": why["params"]} for w, why in said.items()})
