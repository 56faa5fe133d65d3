"""Work on files that outlives a request: begun by a person, done by a worker, as that person, seen in its row."""

import logging
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from celery import current_app
from django.db import transaction
from django.db.models import QuerySet
from kombu.exceptions import KombuError

from apps.common.actor import Actor, Channel
from apps.common.errors import Denied, NotFound
from apps.common.grants import RECHECK_S
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.storage import states
from apps.storage.choices import OPEN_JOBS, JobKind, RootKind
from apps.storage.models import Job
from apps.storage.roots import Root, resolve
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User

TOLD_EVERY_S = 1.0
log = logging.getLogger(__name__)


class TakenAway(Exception):
    """The job was cancelled, or another worker has it now: stop without a word."""


class Ticket:
    """The worker's hold on a job: counts what is done, tells the row about once a second.

    Work that takes hours ends soon after the owner's right to one of its trees has ended.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self._roots: list[tuple[list[str], bool]] = []
        self._confirmed = time.monotonic()
        self.files = 0
        self.size = 0
        self._told = 0.0

    def tell(self, files: int, size: int) -> None:
        """So much more is done. Raises `TakenAway` where the job is not ours any more, else as `root` does."""
        self.files += files
        self.size += size
        if time.monotonic() - self._told > TOLD_EVERY_S:
            self._told = time.monotonic()
            if not states.beat(self.job, files=self.files, size=self.size):
                raise TakenAway
        if time.monotonic() - self._confirmed > RECHECK_S:
            self._confirmed = time.monotonic()
            self._confirm()

    def root(self, actor: Actor, address: list[str], *, write: bool = False) -> Root:
        """The tree of this kind and id, which is asked for again while the job runs. Raises `NotFound`, `Denied`."""
        self._roots.append((address, write))
        return resolve(actor, address[0], UUID(address[1]), write=write)

    def _confirm(self) -> None:
        actor = owner_of(self.job)
        with acting(actor):
            for address, write in self._roots:
                resolve(actor, address[0], UUID(address[1]), write=write)

    def close(self) -> None:
        """The last figures."""
        states.beat(self.job, files=self.files, size=self.size)


def owner_of(job: Job) -> Actor:
    """Whoever began it, with the rights that they have now; raises `Denied` for who is no member any more."""
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
    """Queue work; a worker takes it within seconds, at once where the broker is up."""
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
    transaction.on_commit(_nudge, robust=True)
    job.refresh_from_db()
    return job


def _nudge() -> None:
    """A nudge that is lost costs seconds: the periodic sweep finds the same row."""
    try:
        current_app.send_task("storage.work", queue="default", expires=5, retry=False)
    except (KombuError, OSError, RuntimeError):
        log.warning("nudge lost: storage.work")


def of_subject(subject_id: UUID) -> QuerySet[Job]:
    """Open jobs about an object, oldest first, for those who may see the object."""
    return Job.objects.filter(subject_id=subject_id, status__in=OPEN_JOBS).order_by("created_at")


def recent(subject_id: UUID) -> Job | None:
    """The latest job about an object, whatever became of it."""
    job: Job | None = Job.objects.filter(subject_id=subject_id).order_by("-created_at").first()
    return job


def get(actor: Actor, job_id: UUID) -> Job:
    """A job of the actor's own; `NotFound` otherwise."""
    job: Job | None = Job.objects.filter(pk=job_id, owner_id=actor.person()).first()
    if job is None:
        raise NotFound
    return job


def cancel(actor: Actor, job: Job) -> None:
    """What it has written so far stays, and can be deleted like any file."""
    states.stop(job)
