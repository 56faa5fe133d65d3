"""Work on files that outlives a request: requested by a person, done as that person by the files process."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor, Channel
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.grants import RECHECK_S
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.storage import disk, states, turns
from apps.storage.choices import OPEN_JOBS, JobKind, JobStatus, RootKind
from apps.storage.models import Job
from apps.storage.roots import Root, resolve
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User

TOLD_EVERY_S = 1.0
MAX_OPEN = 100
FAILURES_SHOWN = timedelta(hours=1)


class JobLost(Exception):
    """The job was cancelled, or another child has it now: stop silently."""


class Ticket:
    """A child's claim on a job: counts what is done and reports progress to the row about once a second.

    Long work ends soon after the owner loses the right to one of its trees.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self._roots: list[tuple[list[str], bool]] = []
        self._confirmed = time.monotonic()
        self.files = 0
        self.size = 0
        self._told = 0.0

    def tell(self, files: int, size: int) -> None:
        """Add to what is done; zeros for the next piece of one large file.

        Raises `JobLost` if the job is not ours any more, `Unavailable` if the disk runs full: a tree may fill more than
        it is said to hold; else as `root` does.
        """
        self.files += files
        self.size += size
        if time.monotonic() - self._told > TOLD_EVERY_S:
            self._told = time.monotonic()
            if not states.report_progress(self.job, files=self.files, size=self.size):
                raise JobLost
            disk.require_free_space()
        if time.monotonic() - self._confirmed > RECHECK_S:
            self._confirmed = time.monotonic()
            self._confirm()

    def root(self, actor: Actor, address: list[str], *, write: bool = False) -> Root:
        """The tree of this kind and id, whose rights are rechecked while the job runs. Raises `NotFound`, `Denied`."""
        self._roots.append((address, write))
        return resolve(actor, address[0], UUID(address[1]), write=write)

    def _confirm(self) -> None:
        actor = owner_of(self.job)
        with acting(actor):
            for address, write in self._roots:
                resolve(actor, address[0], UUID(address[1]), write=write)

    def forget(self) -> None:
        """Reset the counts of an earlier try."""
        self.files = self.size = 0
        self.close()

    def close(self) -> None:
        """The last figures."""
        states.report_progress(self.job, files=self.files, size=self.size)


@dataclass(frozen=True, slots=True)
class FileJob:
    """A kind of job of another app (`settings.FILE_JOBS`, by `JobKind`): who does it, and who hears that it failed.

    `failed` is called in the transaction that ends the job, also where its owner cancelled it.
    """

    run: Callable[[Actor, Ticket], None]
    failed: Callable[[Job, str], None]


def file_job_of(kind: str) -> FileJob | None:
    """None for those that storage does itself."""
    path = settings.FILE_JOBS.get(kind)
    found: FileJob | None = import_string(path) if path else None
    return found


def owner_of(job: Job) -> Actor:
    """The owner as an actor with their present rights; raises `Denied` if they are no longer a member."""
    owner = User.objects.filter(pk=job.owner_id, is_active=True).first()
    if owner is None:
        raise Denied(Permission.STORAGE_USE)
    return organisation_actor(owner, job.organisation_id, channel=Channel.TASK)


def start(
    actor: Actor,
    *,
    kind: JobKind,
    title: str,
    subject_id: UUID,
    parameters: Mapping[str, Any],
    root_kind: RootKind | str = "",
    total_bytes: int = 0,
) -> Job:
    """Queue work; it starts within a second or two if it is its organisation's turn. Raises `Conflict`."""
    if Job.objects.filter(owner_id=actor.person(), status__in=OPEN_JOBS).count() >= MAX_OPEN:
        raise Conflict(_("Too many of your jobs on files are waiting."), hint=_("Wait until some are done."))
    job: Job = Job.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        kind=kind,
        title=title[:200],
        subject_id=subject_id,
        root_kind=root_kind,
        parameters=dict(parameters),
        total_bytes=total_bytes,
    )
    job.refresh_from_db()
    return job


def open_jobs_of(subject_id: UUID) -> QuerySet[Job]:
    """Open jobs about an object, oldest first, for those who may see the object."""
    return Job.objects.filter(subject_id=subject_id, status__in=OPEN_JOBS).order_by("created_at")


def open_on_folders(folder_ids: Iterable[UUID]) -> QuerySet[Job]:
    """Open jobs that read or write one of these folders, oldest first, whoever asked for them."""
    ids = list(folder_ids)
    named = Q(root_kind=RootKind.FOLDER, subject_id__in=ids)
    for folder_id in ids:
        root = [RootKind.FOLDER.value, str(folder_id)]
        named |= Q(parameters__source=root) | Q(parameters__root=root)
    return Job.objects.filter(named, status__in=OPEN_JOBS).order_by("created_at")


def set_total(job: Job, total_bytes: int) -> None:
    """Record how much there is to do, once that is known."""
    Job.objects.filter(pk=job.pk).update(total_bytes=total_bytes)


def ahead_of(job: Job) -> int:
    """Jobs of the same organisation that start before this one; 0 once it runs."""
    if job.status != JobStatus.QUEUED:
        return 0
    waiting = Job.objects.filter(organisation_id=job.organisation_id, status=JobStatus.QUEUED)
    own = waiting.filter(owner_id=job.owner_id, created_at__lt=job.created_at).count()
    others = waiting.exclude(owner_id=job.owner_id).order_by().values("owner_id").annotate(count=Count("pk"))
    running = Job.objects.filter(organisation_id=job.organisation_id, status=JobStatus.RUNNING).count()
    return running + turns.ahead(own, others.values_list("count", flat=True))


def recent_failures(subject_id: UUID) -> QuerySet[Job]:
    """Jobs about an object that failed within the last hour, newest first; its page says why."""
    since = db_now() - FAILURES_SHOWN
    rows = Job.objects.filter(subject_id=subject_id, status=JobStatus.FAILED, ended_at__gt=since)
    return rows.order_by("-ended_at")[:5]


def latest_job(subject_id: UUID) -> Job | None:
    """The latest job about an object, in whatever state."""
    job: Job | None = Job.objects.filter(subject_id=subject_id).order_by("-created_at").first()
    return job


def get(actor: Actor, job_id: UUID) -> Job:
    """A job of the actor's own; `NotFound` otherwise."""
    job: Job | None = Job.objects.filter(pk=job_id, owner_id=actor.person()).first()
    if job is None:
        raise NotFound
    return job


def cancel(actor: Actor, job: Job) -> None:
    """Cancel it: its staging is removed; files that it has already replaced stay."""
    with transaction.atomic():
        outside = file_job_of(job.kind) if states.stop(job) else None
        if outside is not None:
            outside.failed(job, str(_("It was cancelled.")))
