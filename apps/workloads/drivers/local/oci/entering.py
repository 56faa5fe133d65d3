"""Makes an unpacked image the root of one run, and becomes the sandbox in it. Standard library only.

A process between the shim and bubblewrap, in a mount namespace of its own: the image below, a layer of the run's above
it (overlayfs), so that what one run writes no other one sees. As root, the image's files show as the tenant's by
an id-mapped mount (Linux 5.12; under overlayfs 5.19); otherwise all of it happens in a user namespace (5.11).
Where the kernel or the file system lacks one of these, the root is a tree of hard links, which is then read-only.

All that is mounted later finds its place made here, without following any link of the image's: bubblewrap would follow
them, and make what is missing wherever they lead.
"""

import ctypes
import json
import os
import stat
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from apps.workloads.drivers.local.oci import confined

BOOT = (
    "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local.oci import entering; entering.main()"
)
BAD_PLACE = 81
"""Exit code where the image has no place for a mount; others are bubblewrap's or the program's."""
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 2, 4, 0x4000, 0x40000
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442
OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH, AT_EMPTY_PATH, MOUNT_ATTR_IDMAP = 1, 4, 0x1000, 0x100000
AT_FDCWD = -100

_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns"))


@dataclass(frozen=True, slots=True)
class Entry:
    """`tree`: the image. `place`: a folder of the run's own. `uid`: whose the image's files are to be, None for ours.

    `folders` and `files`: what is mounted later, and so has to be there. `links`: further symbolic links, by path.
    """

    tree: str
    place: str
    uid: int | None
    folders: tuple[str, ...]
    files: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()

    @property
    def merged(self) -> str:
        """Where the root is, once this process has made it."""
        return f"{self.place}/merged"


def command(entry: Entry, project: str, python: str) -> list[str]:
    """What comes before bubblewrap's own command line."""
    return [python, "-I", "-S", "-c", BOOT, project, json.dumps(asdict(entry)), "--"]


def upper(place: Path) -> Path:
    """What the run has written into its root."""
    return place / "upper"


def main() -> None:
    fields = json.loads(sys.argv[2])
    entry = Entry(**{**fields, "links": tuple(map(tuple, fields["links"]))})
    argv = sys.argv[4:]
    is_writable = _mount(entry)
    root = os.open(entry.merged, confined.FOLDER)
    try:
        _make_places(root, entry)
    except OSError as error:
        _note(f"In the image, {error.filename or 'a mount'} has no place: {error.strerror}")
        sys.exit(BAD_PLACE)
    os.close(root)
    if not is_writable:
        at = argv.index(entry.merged) - 1
        argv[at] = "--ro-bind"
        _note("This machine gives the run no layer of its own: the image's files cannot be changed.")
    os.execvp(argv[0], argv)  # noqa: S606 - the very purpose


def _note(text: str) -> None:
    """Into the log, among the program's own lines."""
    sys.stdout.write(f"[plstack] {text}\n")
    sys.stdout.flush()


def _mount(entry: Entry) -> bool:
    """The root below `merged`; whether it may be written to. Raises OSError."""
    place = Path(entry.place)
    for name in ("lower", "upper", "work", "merged"):
        (place / name).mkdir(mode=0o755, exist_ok=True)
    if entry.uid is not None:
        os.chown(upper(place), entry.uid, entry.uid)
    try:
        _own_namespace(entry.uid)
        lower = _lower(entry, place)
        options = f"lowerdir={lower},upperdir={upper(place)},workdir={place}/work"
        # Folders that were moved are whole in the upper one, so that it says by itself what has changed.
        options += ",redirect_dir=nofollow,metacopy=off" if entry.uid is not None else ",userxattr"
        _call(_libc.mount(b"overlay", os.fsencode(entry.merged), b"overlay", MS_NOSUID | MS_NODEV, options.encode()))
    except OSError:
        _link_all(entry.tree, entry.merged)
        return False
    return True


def _own_namespace(uid: int | None) -> None:
    own, group = os.getuid(), os.getgid()
    if uid is None:
        _call(_libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
        for name, text in (("setgroups", "deny"), ("uid_map", f"{own} {own} 1"), ("gid_map", f"{group} {group} 1")):
            Path(f"/proc/self/{name}").write_text(text)
    else:
        _call(_libc.unshare(CLONE_NEWNS))
    _call(_libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))


def _lower(entry: Entry, place: Path) -> str:
    """The image as its files show: the tenant's where that works, else of whoever unpacked them."""
    if entry.uid is None:
        return entry.tree
    with suppress(OSError):
        namespace = _mapping(entry.uid)
        try:
            tree = _call(_libc.syscall(SYS_OPEN_TREE, AT_FDCWD, os.fsencode(entry.tree), OPEN_TREE_CLONE))
            wanted = _Attributes(MOUNT_ATTR_IDMAP, 0, 0, namespace)
            size = ctypes.sizeof(wanted)
            _call(_libc.syscall(SYS_MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH, ctypes.byref(wanted), size))
            target = os.fsencode(place / "lower")
            _call(_libc.syscall(SYS_MOVE_MOUNT, tree, b"", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH))
            os.close(tree)
        finally:
            os.close(namespace)
        return str(place / "lower")
    return entry.tree


def _mapping(uid: int) -> int:
    """A user namespace in which root's files are `uid`'s: it exists for its table alone. Raises OSError."""
    (ready, is_ready), (go, may_go) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(may_go)
        failed = _libc.unshare(CLONE_NEWUSER) != 0
        os.write(is_ready, b"0" if failed else b"1")
        os.read(go, 1)  # ends with the parent, too
        os._exit(0)
    os.close(is_ready)
    try:
        if os.read(ready, 1) != b"1":
            raise OSError("no user namespace")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(f"0 {uid} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for descriptor in (ready, go, may_go):
            os.close(descriptor)
        os.waitpid(child, 0)


def _link_all(tree: str, target: str) -> None:
    """The same files in folders of its own: nothing is copied, and nothing may be written. Raises OSError."""
    for folder, folders, files in os.walk(tree):
        there = os.path.join(target, os.path.relpath(folder, tree))
        for name in [*folders, *files]:
            source = os.path.join(folder, name)
            if stat.S_ISDIR(os.lstat(source).st_mode):
                os.makedirs(os.path.join(there, name), exist_ok=True)
                os.chmod(os.path.join(there, name), stat.S_IMODE(os.lstat(source).st_mode))
            else:
                os.link(source, os.path.join(there, name), follow_symlinks=False)


def _make_places(root: int, entry: Entry) -> None:
    """Raises OSError with the path that a link or a file of the image's is in the way of."""
    for path in entry.folders:
        try:
            os.close(confined.open_folder(root, path.strip("/"), links=False))
        except OSError as error:
            if path.count("/") > 1:
                raise OSError(error.errno, error.strerror, path) from error
            confined.remove(path.strip("/"), root)  # of our own, at the top: /etc, /run, /tmp …
            os.mkdir(path.strip("/"), 0o755, dir_fd=root)
    for path in entry.files:
        _make_file(root, path.strip("/"))
    for path, target in entry.links:
        above, _, name = path.strip("/").rpartition("/")
        parent = confined.open_folder(root, above)
        with suppress(FileExistsError):
            os.symlink(target, name, dir_fd=parent)
        os.close(parent)


def _make_file(root: int, path: str) -> None:
    above, _, name = path.rpartition("/")
    parent = confined.open_folder(root, above, links=False)
    try:
        with suppress(FileNotFoundError):
            if stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                return
        confined.remove(name, parent)
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=parent))
    finally:
        os.close(parent)


def _call(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
