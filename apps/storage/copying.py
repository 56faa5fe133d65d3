"""Copying and moving between trees as a job. Restarted after a kill, it continues and skips what is there."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.storage import disk, jobs, operations
from apps.storage.choices import Clash, JobKind
from apps.storage.models import Job
from apps.storage.rebuilding import copy_content
from apps.storage.roots import Root, row_of
from apps.storage.safe_open import HIDDEN, make_folder, open_file_by_names, open_folder_by_names, replacing, split_path
from apps.storage.usage import Budget, write_budget

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
    if not paths or any(not split_path(path) for path in paths):
        raise Invalid.field("paths", _("Choose a file or a folder."))
    into = split_path(folder)
    if source.id == target.id and any(into[: len(split_path(path))] == split_path(path) for path in paths):
        raise Invalid.field("folder", _("A folder cannot be copied into itself."))
    with open_folder_by_names(target.path, into) as parent:
        placed = _target_names(parent, paths, clash)
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
            "clash": clash,
        },
    )


def _title(paths: Sequence[str], move: bool) -> str:
    if len(paths) == 1:
        text = _("Moving %(name)s") if move else _("Copying %(name)s")
        return text % {"name": split_path(paths[0])[-1]}
    if move:
        return ngettext("Moving %(count)s entry", "Moving %(count)s entries", len(paths)) % {"count": len(paths)}
    return ngettext("Copying %(count)s entry", "Copying %(count)s entries", len(paths)) % {"count": len(paths)}


def _target_names(parent: int, paths: Sequence[str], clash: Clash) -> dict[str, str]:
    """The target name of each; decided once, so that a second try does not make a second copy."""
    taken = set(os.listdir(parent))
    placed = {}
    for path in paths:
        name = split_path(path)[-1]
        if clash is Clash.SKIP and name in taken:
            continue
        free = name
        if clash is not Clash.REPLACE:
            free = next(each for each in operations.numbered_names(name) if each not in taken)
        taken.add(free)
        placed[path] = free
    return placed


@dataclass(slots=True)
class _CopyJob:
    """Source, target and counts of a copy. `target`: the tree itself, or a staging folder."""

    source: Root
    target: Path
    budget: Budget
    ticket: jobs.Ticket
    size: int = 0
    entries: int = 0

    def take(self, size: int, entries: int) -> None:
        self.budget.take(size, entries)
        self.size += size
        self.entries += entries

    def tick(self) -> None:
        self.ticket.tell(0, 0)


def run(actor: Actor, ticket: jobs.Ticket) -> None:
    """Do the job as its owner, whose rights are checked again. Raises `DomainError`, `jobs.JobLost`."""
    wanted: dict[str, Any] = ticket.job.parameters
    move = ticket.job.kind == JobKind.MOVE
    source = ticket.root(actor, wanted["source"], write=move)
    target = ticket.root(actor, wanted["target"], write=True)
    into, placed = split_path(wanted["folder"]), dict(wanted["placed"])
    clash = Clash(wanted.get("clash", Clash.KEEP_BOTH))
    with write_budget(row_of(target)) as budget, operations.disk_errors_as_refusals():
        if clash is Clash.REPLACE:
            way = _CopyJob(source, target.path, budget, ticket)
            for path, name in placed.items():
                _copy(way, split_path(path), (*into, name))
        else:
            placed = _copy_to_staging(
                _CopyJob(source, _staging_folder(ticket), budget, ticket), target, into, placed, clash
            )
    if move:
        operations.delete(source, list(placed))


def _staging_folder(ticket: jobs.Ticket) -> Path:
    return disk.staging(ticket.job.organisation_id, ticket.job.pk) / "new"


def _copy_to_staging(way: _CopyJob, target: Root, into: Names, placed: dict[str, str], clash: Clash) -> dict[str, str]:
    """Copy all to staging, then put each entry into the tree in one step; returns those of `placed` that are there.

    After the mark `whole` nothing is copied any more: what is missing in staging is already in its place.
    """
    whole = way.target.with_name("whole")
    try:
        if not whole.exists():
            way.target.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path, name in placed.items():
                _copy(way, split_path(path), (name,))
            whole.touch()
        with open_folder_by_names(target.path, into) as parent:
            return {path: name for path, name in placed.items() if _put_in_place(way.target / name, parent, clash)}
    except BaseException:
        way.budget.give(way.size, way.entries)
        raise


def _put_in_place(made: Path, parent: int, clash: Clash) -> bool:
    return not os.path.lexists(made) or operations.place_tree(made, parent, made.name, clash) is not None


def _copy(way: _CopyJob, origin: Names, place: Names) -> None:
    """Copy one file, or a folder with its contents, folder by folder. Links and special files are left out."""
    waiting = [(origin, place)]
    while waiting:
        names, target = waiting.pop()
        try:
            with open_folder_by_names(way.source.path, names) as here:
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


def _ensure(way: _CopyJob, names: Names) -> None:
    with open_folder_by_names(way.target, names[:-1]) as parent:
        if _status(parent, names[-1]) is not None:
            return
        way.take(0, 1)
        with suppress(FileExistsError):
            make_folder(parent, names[-1])
    way.tick()


def _copy_file(way: _CopyJob, origin: Names, place: Names) -> None:
    try:
        source = open_file_by_names(way.source.path, origin)
    except NotFound:  # gone since the folder was read
        return
    try:
        status = os.fstat(source)
        with open_folder_by_names(way.target, place[:-1]) as parent:
            before = _status(parent, place[-1])
            if before is None or (before.st_size, before.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
                way.take(status.st_size, 0 if before is not None else 1)
                with replacing(parent, place[-1], mode=S_IMODE(status.st_mode)) as target:
                    copy_content(source, target, way.tick)
                    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
                way.budget.give(before.st_size if before is not None else 0)
    finally:
        os.close(source)
    way.ticket.tell(1, status.st_size)


def _status(parent: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
