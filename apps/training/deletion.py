"""Delete ended runs: output, checkpoints, logs, metrics, and code that no other run uses.

What it cost, what was done and its name stay in the books and the audit log; its version number is not given again.
Files go to the trash in the transaction that gives them up, and the machines that ran it are asked for its logs until
each has removed them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.storage import services as storage
from apps.storage.jobs import open_on_folders
from apps.storage.models import Folder
from apps.storage.usage import Measured, measure
from apps.tracking.forgetting import forget
from apps.training.models import Continuation, Run
from apps.workloads import announce
from apps.workloads.leftovers import remove_leftovers
from apps.workloads.permissions import may_change

MEASURED = 200_000
"""So many files are counted for the question; with more it says "at least"."""
CLEARED_AT_ONCE = 20
AGAIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Use:
    """What needs the run: in words, by name, with the page on which it can be ended."""

    kind: str
    name: str
    url: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


FindUses: TypeAlias = Callable[[Run], list[Use]]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What would follow. `uses` stand in the way; bytes of `size` are freed, or more where it is not `complete`.

    `code_users` and `continued_by` keep what they need: the code, and their own copies of checkpoints.
    """

    uses: tuple[Use, ...]
    size: int
    complete: bool
    code_users: tuple[Run, ...]
    continued_by: tuple[Run, ...]


def deletion_of(actor: Actor, run: Run) -> Deletion:
    may_change(actor, run.workload)
    found = [_measured(folder) for folder in _own_folders(run)]
    after = Continuation.objects.filter(source=run, run__deleted_at__isnull=True).select_related("run")
    return Deletion(
        uses=tuple(_uses(run)),
        size=sum(each.size for each in found),
        complete=all(each.complete for each in found),
        code_users=tuple(_others_with_code(run)),
        continued_by=tuple(row.run for row in after.order_by("-run__created_at")),
    )


def delete(actor: Actor, run: Run) -> None:
    """For good; the same again changes nothing. Raises `Conflict` while it lives, and while something needs it."""
    may_change(actor, run.workload)
    with transaction.atomic():
        row: Run = (
            Run.objects.select_for_update(of=("self",)).select_related("workload", "code", "output").get(pk=run.pk)
        )
        if row.deleted_at is not None:
            return
        if row.workload.is_live:
            raise Conflict(_("It has not ended yet."), hint=_("Stop it first."))
        if uses := _uses(row):
            raise Conflict(in_the_way(uses), hint=_("End that first, then delete the run."))
        now = db_now()
        Run.objects.filter(pk=row.pk).update(deleted_at=now, clear_at=now)
        record(
            actor,
            action="run.deleted",
            target=Target("run", str(row.pk), row.name),
            organisation_id=row.organisation_id,
            before={"version": row.version, "owner": row.owner_id, "workload": str(row.workload_id)},
        )
        announce.progressed(row.workload)
        forget(workload_id=row.workload_id)
        for folder in _own_folders(row, lock=True):
            storage.empty_folder(folder)


def in_the_way(uses: Iterable[Use]) -> str:
    return _("Something still needs it: %(uses)s.") % {"uses": ", ".join(map(str, uses))}


def clear_due() -> int:
    """Ask machines for what they keep of deleted runs; returns how many are done. Call in the platform's scope."""
    done = 0
    due = Run.objects.filter(clear_at__lte=db_now()).select_related("workload").order_by("clear_at")
    for run in due[:CLEARED_AT_ONCE]:
        gone = remove_leftovers(run.workload)
        Run.objects.filter(pk=run.pk).update(clear_at=None if gone else db_now() + AGAIN)
        done += gone
    return done


def _measured(folder: Folder) -> Measured:
    try:
        return measure(storage.root_of(folder), most=MEASURED)
    except NotFound:
        return Measured(0, 0)


def _own_folders(run: Run, *, lock: bool = False) -> list[Folder]:
    """Those that no other run needs. `lock`: also against who is about to need one."""
    began = Continuation.objects.filter(run=run).select_related("folder").first()
    shared = [run.code, began.folder] if began else [run.code]
    if lock:
        list(Folder.objects.select_for_update().filter(pk__in=[each.pk for each in shared]).order_by("pk"))
    own = [run.output]
    if not _others_with_code(run):
        own.append(run.code)
    if began is not None and not _others_from(began):
        own.append(began.folder)
    return own


def _others_with_code(run: Run) -> list[Run]:
    rows = Run.objects.filter(code_id=run.code_id, deleted_at__isnull=True).exclude(pk=run.pk)
    return list(rows.order_by("-created_at")[:20])


def _others_from(began: Continuation) -> bool:
    rows = Continuation.objects.filter(folder_id=began.folder_id, run__deleted_at__isnull=True)
    return rows.exclude(pk=began.pk).exists()


def _uses(run: Run) -> list[Use]:
    finders: Iterable[FindUses] = (_file_jobs, *map(import_string, settings.RUN_USES))
    return [use for find in finders for use in find(run)]


def _file_jobs(run: Run) -> list[Use]:
    """Copies of its files that have not ended, such as into a dataset; what was copied before needs it no more."""
    return [Use(_("File job"), job.title) for job in open_on_folders([run.output_id, run.code_id])]
