"""A run's own root, made of an unpacked image: what its sandbox is started with. Standard library only."""

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from apps.workloads.drivers.local import sandbox
from apps.workloads.drivers.local.oci import confined, entering, interpreter, saved
from apps.workloads.drivers.local.oci.prepare import Unpacked
from apps.workloads.drivers.local.records import RunDirectory, RunSpec
from apps.workloads.drivers.local.runtime import BASE_PYTHON
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.said import Code, Said

PRELOAD = "ld.so.preload"
MOST_ACCOUNTS = 1024 * 1024


class MountFailed(Exception):
    """Something that the workload needs is not there; what is said names its target, never a path of the host."""

    def __init__(self, said: Said) -> None:
        super().__init__(str(said))
        self.said = said


def command(
    spec: RunSpec, run: RunDirectory, view: sandbox.View, unpacked: Unpacked, seccomp_filter: int | None
) -> list[str]:
    """The command line of the sandbox's first process. Raises MountFailed, where the image has no place for a mount."""
    try:
        python = interpreter.interpreter()
        run.root.mkdir(mode=0o755, exist_ok=True)
        (run.etc / PRELOAD).write_text("")  # nothing of the image's goes into the first process
        if not spec.request.builds:
            _name_users(unpacked.tree, run.etc)
        mounts = [*view.mounts, *_of_machine(unpacked.tree, spec)]
        view = replace(view, mounts=mounts, root=str(run.root / "merged"), python=python.mounts)
        folders, files = sandbox.places(view)
        _check_places(unpacked.tree, folders[len(sandbox.OWN_FOLDERS) :])
    except OSError as error:
        raise MountFailed(Said(Code.IMAGE_ROOT_FAILED, {"error": str(error.strerror or error)})) from error
    links = spec.edits.links
    saved.note_places(run, folders, files, [path for path, _ in links])
    entry = entering.Entry(str(unpacked.tree), str(run.root), spec.uid, tuple(folders), tuple(files), links)
    return [
        *entering.command(entry, str(sandbox.PROJECT), str(BASE_PYTHON)),
        *sandbox.arguments(view, seccomp_filter),
        *sandbox.init_command(python=python.argv),
    ]


def _of_machine(tree: Path, spec: RunSpec) -> list[HostMount]:
    """The libraries and programs of the devices' driver, each where the image's own links lead to. Raises OSError."""
    found = {}
    root = os.open(tree, confined.FOLDER)
    try:
        for source, inside in spec.edits.mounts:
            if os.path.exists(source):
                place = f"{_real(root, tree, os.path.dirname(inside))}/{os.path.basename(inside)}"
                found[place] = HostMount(source, place, read_only=True)
    finally:
        os.close(root)
    return list(found.values())


def _real(root: int, tree: Path, folder: str) -> str:
    """The folder without links; what is not there keeps its name. "" for the top."""
    if folder == "/":
        return ""
    try:
        descriptor = confined.open_in(root, folder, os.O_PATH | os.O_DIRECTORY)
    except FileNotFoundError:
        return f"{_real(root, tree, os.path.dirname(folder))}/{os.path.basename(folder)}"
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").removeprefix(os.path.realpath(tree))
    finally:
        os.close(descriptor)


def _check_places(tree: Path, folders: Sequence[str]) -> None:
    """Raises MountFailed, OSError."""
    root = os.open(tree, confined.FOLDER)
    try:
        for path in folders:
            _check_place(root, path)
    finally:
        os.close(root)


def _check_place(root: int, path: str) -> None:
    try:
        os.close(confined.open_in(root, path, confined.FOLDER, links=False))
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above != "/":
            _check_place(root, above)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise MountFailed(Said(Code.MOUNT_THROUGH_IMAGE, {"target": path})) from error
        raise


def _name_users(tree: Path, etc: Path) -> None:
    """Adds the image's own users and groups to the files that name the run's. Raises OSError."""
    root = os.open(tree, confined.FOLDER)
    try:
        for name in ("passwd", "group"):
            own = (etc / name).read_text().splitlines()
            taken = {line.split(":")[0] for line in own} | {f"id {line.split(':')[2]}" for line in own}
            kept = [line for line in _lines(root, f"etc/{name}") if not taken & _names(line)]
            (etc / name).write_text("".join(f"{line}\n" for line in [*own, *kept]))
    finally:
        os.close(root)


def _names(line: str) -> set[str]:
    fields = line.split(":")
    return {fields[0], f"id {fields[2]}"} if len(fields) > 2 else {""}


def _lines(root: int, path: str) -> list[str]:
    try:
        with open(confined.open_in(root, path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            text = file.read(MOST_ACCOUNTS).decode(errors="replace")
    except OSError:  # none there, no file, or a link that leads nowhere
        return []
    return [line for line in text.splitlines() if line.count(":") > 1]
