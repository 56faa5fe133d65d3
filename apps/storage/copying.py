"""Copying and moving between trees as a job. Killed and begun again, it goes on: what is there already is passed by."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import Any
from uuid import uuid4

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.storage import jobs, operations
from apps.storage.beneath import folder_of_names, give_like, make_folder, open_names, parts_of
from apps.storage.choices import Clash, JobKind
from apps.storage.listing import HIDDEN
from apps.storage.models import Job
from apps.storage.rebuilding import copy_content
from apps.storage.roots import Root, row_of
from apps.storage.usage import Budget, guard

Names = tuple[str, ...]


def start(
    actor: Actor,
    source: Root,
    paths: Sequence[str],
    target: Root,
    folder: str,
    *,
    clash: Clash = Clash.KEEP_BOTH,
    move: bool = False,
) -> Job:
    """Queue the copy of files and folders into a folder of the same or another tree. Raises `Invalid`, `NotFound`."""
    if not paths or any(not parts_of(path) for path in paths):
        raise Invalid.field("paths", _("Choose a file or a folder."))
    into = parts_of(folder)
    if source.id == target.id and any(into[: len(parts_of(path))] == parts_of(path) for path in paths):
        raise Invalid.field("folder", _("A folder cannot be copied into itself."))
    with folder_of_names(target.path, into) as parent:
        placed = _placed(parent, paths, clash)
    return jobs.start(
        actor,
        kind=JobKind.MOVE if move else JobKind.COPY,
        title=_title(paths, move),
        subject_id=target.id,
        root_kind=target.kind,
        parameters={
            "source": [source.kind, str(source.id)],
            "target": [target.kind, str(target.id)],
            "folder": "/".join(into),
            "placed": placed,
        },
    )


def _title(paths: Sequence[str], move: bool) -> str:
    if len(paths) == 1:
        text = _("Moving %(name)s") if move else _("Copying %(name)s")
        return text % {"name": parts_of(paths[0])[-1]}
    if move:
        return ngettext("Moving %(count)s entry", "Moving %(count)s entries", len(paths)) % {"count": len(paths)}
    return ngettext("Copying %(count)s entry", "Copying %(count)s entries", len(paths)) % {"count": len(paths)}


def _placed(parent: int, paths: Sequence[str], clash: Clash) -> dict[str, str]:
    """Under which name each will stand; decided once, so that a second try does not make a second copy."""
    taken = set(os.listdir(parent))
    placed = {}
    for path in paths:
        name = parts_of(path)[-1]
        if clash is Clash.SKIP and name in taken:
            continue
        free = name
        if clash is not Clash.REPLACE:
            free = next(each for each in operations.candidates(name) if each not in taken)
        taken.add(free)
        placed[path] = free
    return placed


@dataclass(frozen=True, slots=True)
class _Way:
    source: Root
    target: Root
    budget: Budget
    ticket: jobs.Ticket


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner, whose rights are asked again. Raises `DomainError`, `jobs.TakenAway`."""
    wanted: dict[str, Any] = ticket.job.parameters
    move = ticket.job.kind == JobKind.MOVE
    source = ticket.root(actor, wanted["source"], write=move)
    target = ticket.root(actor, wanted["target"], write=True)
    into = parts_of(wanted["folder"])
    with guard(row_of(target)) as budget, operations.in_words():
        way = _Way(source, target, budget, ticket)
        for path, name in wanted["placed"].items():
            _copy(way, parts_of(path), (*into, name))
    if move:
        operations.delete(source, list(wanted["placed"]))


def _copy(way: _Way, origin: Names, place: Names) -> None:
    """One file, or a folder with all that is in it, folder by folder. Links and special files are left out."""
    waiting = [(origin, place)]
    while waiting:
        names, target = waiting.pop()
        try:
            with folder_of_names(way.source.path, names) as here:
                found = [(name, os.stat(name, dir_fd=here, follow_symlinks=False)) for name in os.listdir(here)]
        except NotFound:
            _copy_file(way, names, target)
            continue
        _ensure(way, target)
        for name, status in found:
            if S_ISDIR(status.st_mode):
                waiting.append(((*names, name), (*target, name)))
            elif S_ISREG(status.st_mode) and not name.startswith(HIDDEN):
                _copy_file(way, (*names, name), (*target, name))


def _ensure(way: _Way, names: Names) -> None:
    with folder_of_names(way.target.path, names[:-1]) as parent:
        try:
            make_folder(parent, names[-1])
        except FileExistsError:
            return


def _copy_file(way: _Way, origin: Names, place: Names) -> None:
    try:
        source = open_names(way.source.path, origin)
    except NotFound:  # gone since the folder was read
        return
    try:
        status = os.fstat(source)
        with folder_of_names(way.target.path, place[:-1]) as parent:
            before = _status(parent, place[-1])
            if before is None or (before.st_size, before.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
                way.budget.take(status.st_size)
                _write(source, status, parent, place[-1])
                way.budget.give(before.st_size if before is not None else 0)
    finally:
        os.close(source)
    way.ticket.tell(1, status.st_size)


def _status(parent: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _write(source: int, status: os.stat_result, parent: int, name: str) -> None:
    part = f"{HIDDEN}{uuid4().hex}"
    target = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=parent)
    try:
        copy_content(source, target)
        os.fchmod(target, S_IMODE(status.st_mode) & 0o777)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
        give_like(parent, part)
        os.rename(part, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        os.unlink(part, dir_fd=parent)
        raise
    finally:
        os.close(target)
