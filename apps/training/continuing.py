"""Go on from a checkpoint of an earlier run: what is chosen is kept for the new run, whatever becomes of the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.formatting import file_size, moment
from apps.storage import services as storage
from apps.storage.linking import link_entries
from apps.storage.models import Folder, FolderKind
from apps.training import command
from apps.training.checkpoints import FOLDER, MOST_ENTRIES, Checkpoint, Problem, checkpoints, latest
from apps.training.models import Continuation, Run
from apps.workloads.spec import DataMount

MIB = 1 << 20
FIELD = "checkpoint"
MOST_OFFERED = 50
_CHECKPOINT = "checkpoint:"
NEWEST = "newest"
"""Instead of a key: whichever is the newest when it is taken."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Which checkpoint of which run; `checkpoint` None: the newest that is whole."""

    run_id: UUID
    checkpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """From where the next version of a run begins, as forms post it: `same`, `beginning`, or `checkpoint:<key>`."""

    value: str

    def resume(self, run: Run) -> Resume | None:
        """None: from the beginning. Raises `Invalid` for a value that no form offers."""
        if self.value == SAME.value:
            row = continuation_of(run)
            return None if row is None else Resume(row.source_id, row.checkpoint)
        if self.value.startswith(_CHECKPOINT):
            key = self.value.removeprefix(_CHECKPOINT)
            return Resume(run.pk, None if key == NEWEST else key)
        if self.value != BEGINNING.value:
            raise _gone()
        return None


SAME, BEGINNING = Start("same"), Start("beginning")


def checkpoint_start(key: str | None) -> Start:
    """From that checkpoint; None: from the newest that is whole."""
    return Start(f"{_CHECKPOINT}{NEWEST if key is None else key}")


@dataclass(frozen=True, slots=True)
class Taken:
    """A checkpoint as the new run is given it: `folder` holds it and nothing else."""

    source: Run
    folder: Folder
    checkpoint: str
    name: str
    step: int | None
    saved_at: datetime
    size: int
    files: int

    @property
    def mount(self) -> DataMount:
        """What `$PLSTACK_CHECKPOINTS` begins as a copy of."""
        return DataMount(self.folder.relative_path, command.CHECKPOINTS)


PROBLEMS = {
    Problem.UNFINISHED: gettext_lazy("It was not written to its end."),
    Problem.TOO_MANY: gettext_lazy("There are too many files beside it to look through."),
}


def take(actor: Actor, source: Run, key: str | None, made: list[Folder]) -> Taken:
    """Keep the checkpoint in a folder of its own, which is added to `made`; one that was kept before is shared.

    The caller has checked that the actor may clone `source`. Raises `Conflict` while it runs, and `Invalid` for a
    checkpoint that is gone, not whole or larger than an output may be.
    """
    kept = _kept(source, key)
    if kept is not None:
        return kept
    if source.workload.is_live:
        raise Conflict(_("It has not ended yet."), hint=_("Stop it, then continue from its checkpoint."))
    found = _chosen(source, key)
    if key is None and (kept := _kept(source, found.key)) is not None:
        return kept
    folder = storage.create_folder(actor, kind=FolderKind.RESUME)
    made.append(folder)
    try:
        link_entries(storage.root_of(source.output), FOLDER, found.names, storage.root_of(folder), most=MOST_ENTRIES)
    except NotFound as error:
        raise _gone() from error
    storage.seal(folder)
    return Taken(source, folder, found.key, found.name, found.step, found.saved_at, found.size, found.files)


def _kept(source: Run, key: str | None) -> Taken | None:
    """What an earlier continuation took of it: it never changes, and outlives what it was taken from."""
    rows = Continuation.objects.filter(source=source, checkpoint=key, run__deleted_at__isnull=True)
    row = rows.select_related("folder").first() if key is not None else None
    return None if row is None or not storage.hold_folder(row.folder) else Taken(
        source, row.folder, row.checkpoint, row.name, row.step, row.saved_at, row.size_bytes, row.file_count
    )  # fmt: skip


def _chosen(source: Run, key: str | None) -> Checkpoint:
    every = checkpoints(source)
    found = latest(every) if key is None else next((each for each in every if each.key == key), None)
    if found is None:
        raise _gone() if key is not None or not every else _not_whole(every[0])
    if found.problem is not None:
        raise _not_whole(found)
    if found.size > settings.RUN_OUTPUT_MIB * MIB:
        sizes = {"size": file_size(found.size), "limit": file_size(settings.RUN_OUTPUT_MIB * MIB)}
        raise Invalid.field(
            FIELD, _("This checkpoint takes %(size)s, and the output of a run may take %(limit)s.") % sizes
        )
    return found


def _gone() -> Invalid:
    return Invalid.field(
        FIELD, _("This checkpoint is not there any more."), hint=_("Choose another one, or start from the beginning.")
    )


def _not_whole(found: Checkpoint) -> Invalid:
    words = PROBLEMS[found.problem or Problem.UNFINISHED]
    return Invalid.field(
        FIELD,
        _("The checkpoint %(name)s cannot be used. %(why)s") % {"name": found.name, "why": words},
        hint=_("Choose an earlier one, or start from the beginning."),
    )


@dataclass(frozen=True, slots=True)
class StartOption:
    """One place to begin from, as forms offer it. `label`: what people read; `problem`: why it cannot be chosen."""

    value: str
    label: str
    problem: str = ""


def start_options(run: Run) -> list[StartOption]:
    """From where the next version of `run` can begin: as itself did, from nothing, from its checkpoints, newest first.

    One option alone where it saved nothing and began from nothing.
    """
    began = continuation_of(run)
    found = [StartOption(BEGINNING.value, _("From the beginning, with an empty folder"))]
    if began is not None:
        words = {"name": began.name, "version": began.source.version, "own": run.version}
        label = _("As version %(own)s: from %(name)s of version %(version)s") % words
        found.insert(0, StartOption(SAME.value, label))
    every = [] if run.workload.is_live else checkpoints(run)[:MOST_OFFERED]
    newest = latest(every)
    for each in every:
        label = " · ".join([each.name, moment(each.saved_at, seconds=True), file_size(each.size)])
        label = _("%(checkpoint)s (newest)") % {"checkpoint": label} if each is newest else label
        problem = str(PROBLEMS[each.problem]) if each.problem else ""
        found.append(StartOption(checkpoint_start(each.key).value, label, problem))
    return found


def newest_start(options: Sequence[StartOption]) -> str:
    """The value of the newest checkpoint that is whole; that of the first option where there is none."""
    whole = (each.value for each in options if each.value.startswith(_CHECKPOINT) and not each.problem)
    return next(whole, options[0].value)


def record(run: Run, taken: Taken | None) -> None:
    """Of a run that goes on from a checkpoint."""
    if taken is None:
        return
    Continuation.objects.create(
        organisation_id=run.organisation_id,
        run=run,
        source=taken.source,
        folder=taken.folder,
        checkpoint=taken.checkpoint,
        name=taken.name,
        step=taken.step,
        saved_at=taken.saved_at,
        size_bytes=taken.size,
        file_count=taken.files,
    )


def continuation_of(run: Run) -> Continuation | None:
    """From what it goes on, with the other run; None for one that began from nothing."""
    rows = Continuation.objects.filter(run=run).select_related("source", "folder")
    return rows.first()


def continued_by(run: Run) -> "QuerySet[Continuation]":
    """What went on from it, newest first."""
    rows = Continuation.objects.filter(source=run, run__deleted_at__isnull=True)
    return rows.select_related("run").order_by("-run__created_at")
