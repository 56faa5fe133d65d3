"""A zip that lies in a tree, unpacked beside itself as a job: extracted to staging, moved into the tree in one step."""

import os
from typing import Any

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.storage import disk, jobs, operations
from apps.storage.archives import extract_within
from apps.storage.choices import Clash, JobKind
from apps.storage.models import Job
from apps.storage.roots import Root, row_of
from apps.storage.safe_open import open_file, open_folder_by_names, split_path
from apps.storage.usage import write_budget


def start(actor: Actor, root: Root, path: str) -> Job:
    """Queue it: the files go into a new folder named after the zip. Raises `NotFound`, `Invalid`, `Conflict`."""
    os.close(open_file(root.path, path))
    name = split_path(path)[-1]
    return jobs.start(
        actor,
        kind=JobKind.UNPACK,
        title=_("Unpacking %(name)s") % {"name": name},
        subject_id=root.id,
        root_kind=root.kind,
        parameters={"root": [root.kind, str(root.id)], "path": path},
    )


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner. Restarted after a kill, it starts from scratch."""
    wanted: dict[str, Any] = ticket.job.parameters
    root = ticket.root(actor, wanted["root"], write=True)
    *folders, name = split_path(wanted["path"])
    stem = name[:-4] if name.lower().endswith(".zip") else name
    aside = disk.staging(ticket.job.organisation_id, ticket.job.pk)
    disk.move_to_trash(aside)
    ticket.forget()
    aside.mkdir(mode=0o700, parents=True)
    with write_budget(row_of(root)) as budget, operations.disk_errors_as_refusals():
        admitted = [0, 0]

        def admit(size: int, entries: int) -> None:
            jobs.set_total(ticket.job, size)
            budget.take(size, entries + 1)
            admitted[:] = size, entries + 1

        try:
            with os.fdopen(open_file(root.path, wanted["path"]), "rb") as source:
                extract_within(source, aside, admit, ticket.tell)
            with open_folder_by_names(root.path, folders) as parent:
                operations.place_tree(aside, parent, stem or _("Unpacked"), Clash.KEEP_BOTH)
        except BaseException:
            budget.give(*admitted)
            raise
