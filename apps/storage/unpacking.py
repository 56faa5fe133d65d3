"""A zip that lies in a tree, unpacked beside itself as a job."""

import os
from typing import Any

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.storage import jobs, operations
from apps.storage.archives import unpack
from apps.storage.beneath import folder_beneath, make_folder, open_file, parts_of
from apps.storage.choices import JobKind
from apps.storage.models import Job
from apps.storage.roots import Root, row_of
from apps.storage.usage import guard


def start(actor: Actor, root: Root, path: str) -> Job:
    """Queue it: the files go into a new folder named after the zip. Raises `NotFound`, `Invalid`."""
    os.close(open_file(root.path, path))
    *folders, name = parts_of(path)
    stem = name[:-4] if name.lower().endswith(".zip") else name
    with operations.in_words(), folder_beneath(root.path, "/".join(folders)) as parent:
        taken = set(os.listdir(parent))
        free = next(each for each in operations.candidates(stem or _("Unpacked")) if each not in taken)
        make_folder(parent, free)
    return jobs.start(
        actor,
        kind=JobKind.UNPACK,
        title=_("Unpacking %(name)s") % {"name": name},
        subject_id=root.id,
        root_kind=root.kind,
        parameters={"root": [root.kind, str(root.id)], "path": path, "folder": "/".join((*folders, free))},
    )


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner. Begun again after a kill, it writes the same files once more."""
    wanted: dict[str, Any] = ticket.job.parameters
    root = ticket.root(actor, wanted["root"], write=True)
    with guard(row_of(root)) as budget, operations.in_words():

        def take(count: int) -> None:
            budget.take(count)
            ticket.tell(0, count)

        try:
            with os.fdopen(open_file(root.path, wanted["path"]), "rb") as source:
                unpack(source, root.path, take, folder=wanted["folder"])
        except IsADirectoryError as error:
            raise Conflict(_("Two entries of the zip file have one name.")) from error
