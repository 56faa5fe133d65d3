"""A zip that lies in a tree, unpacked beside itself as a job: put together aside, then moved into the tree at once."""

import os
from typing import Any

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.storage import disk, jobs, operations
from apps.storage.archives import unpack
from apps.storage.choices import Clash, JobKind
from apps.storage.models import Job
from apps.storage.roots import Root, row_of
from apps.storage.safe_open import folder_of_names, open_file, parts_of
from apps.storage.usage import guard


def start(actor: Actor, root: Root, path: str) -> Job:
    """Queue it: the files go into a new folder named after the zip. Raises `NotFound`, `Invalid`, `Conflict`."""
    os.close(open_file(root.path, path))
    name = parts_of(path)[-1]
    return jobs.start(
        actor,
        kind=JobKind.UNPACK,
        title=_("Unpacking %(name)s") % {"name": name},
        subject_id=root.id,
        root_kind=root.kind,
        parameters={"root": [root.kind, str(root.id)], "path": path},
    )


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner. Begun again after a kill, it begins from nothing."""
    wanted: dict[str, Any] = ticket.job.parameters
    root = ticket.root(actor, wanted["root"], write=True)
    *folders, name = parts_of(wanted["path"])
    stem = name[:-4] if name.lower().endswith(".zip") else name
    aside = disk.staging(ticket.job.organisation_id, ticket.job.pk)
    disk.discard(aside)
    ticket.forget()
    aside.mkdir(mode=0o700, parents=True)
    with guard(row_of(root)) as budget, operations.in_words():
        admitted = [0, 0]

        def admit(size: int, entries: int) -> None:
            jobs.announce(ticket.job, size)
            budget.take(size, entries + 1)
            admitted[:] = size, entries + 1

        try:
            with os.fdopen(open_file(root.path, wanted["path"]), "rb") as source:
                unpack(source, aside, admit, ticket.tell)
            with folder_of_names(root.path, folders) as parent:
                operations.appear(aside, parent, stem or _("Unpacked"), Clash.KEEP_BOTH)
        except BaseException:
            budget.give(*admitted)
            raise
