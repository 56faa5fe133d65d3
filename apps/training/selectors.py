"""Reading training runs, as far as the actor may."""

from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.storage.beneath import Item, items, open_file
from apps.storage.services import root_of
from apps.training.models import Run


def runs(actor: Actor) -> QuerySet[Run]:
    """One's own runs, or all of the organisation for who manages them; newest first."""
    actor.require(Permission.TRAINING_VIEW)
    rows: QuerySet[Run] = Run.objects.select_related(
        "workload__package", "workload__price_version", "workload__owner", "owner", "image", "parent"
    )
    if not actor.may(Permission.TRAINING_MANAGE_ALL):
        rows = rows.filter(owner_id=actor.user_id)
    return rows.order_by("-created_at", "-pk")


def get(actor: Actor, run_id: UUID) -> Run:
    """One visible run; `NotFound` otherwise."""
    run = runs(actor).filter(pk=run_id).first()
    if run is None:
        raise NotFound
    return run


def latest(actor: Actor) -> Run | None:
    """The actor's own last run: where the next form's defaults come from."""
    return runs(actor).filter(owner_id=actor.user_id).first()


def versions(actor: Actor, run: Run) -> QuerySet[Run]:
    """All versions of the run's family, newest first."""
    return runs(actor).filter(family=run.family).order_by("-version")


def outputs(run: Run, path: str = "") -> list[Item]:
    """What the run has written so far, one folder at a time."""
    return items(root_of(run.output), path)


def code_files(run: Run, path: str = "") -> list[Item]:
    return items(root_of(run.code), path)


def open_output(run: Run, path: str) -> int:
    """A read-only descriptor of one output file; the caller closes it."""
    return open_file(root_of(run.output), path)


def code_text(run: Run, *, limit: int = 1 << 20) -> str | None:
    """The run's code where it is a single text file that fits the page's editor; None otherwise."""
    files = code_files(run)
    if len(files) != 1 or files[0].is_folder or files[0].size > limit or files[0].path != run.script:
        return None
    with open(open_file(root_of(run.code), files[0].path), encoding="utf-8", errors="strict") as file:
        try:
            return file.read()
        except UnicodeDecodeError:
            return None
