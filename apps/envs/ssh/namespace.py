"""The files that a guest sees over SFTP and scp: the home and the mounts of an environment, or one volume.

The same paths as inside the environment, also while it is stopped. Every real step is opened relative to the one before
and follows no link. Links are resolved here, by their text and within these paths, so none leads anywhere else.
"""

import errno
import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.envs.models import Environment
from apps.envs.program import HOME
from apps.envs.ssh.session_auth import Guest, Kind
from apps.storage import roots
from apps.storage.choices import RootKind
from apps.storage.roots import Root

MAX_LINKS = 40
MAX_PATH = 4096

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A tree and its path for the guest: `at` are the names along it."""

    at: Names
    root: Root


@dataclass(frozen=True, slots=True)
class Spot:
    """A path inside a place: the names below its root, none for the root itself."""

    place: Place
    names: Names


@dataclass(frozen=True, slots=True)
class Namespace:
    """`start`: where a client begins. Paths are absolute names; between the places are folders only to look at."""

    start: Names
    places: tuple[Place, ...]

    def absolute(self, path: str, start: Names | None = None) -> Names:
        """Names along `path`, taken from `start` where it is relative. Raises OSError for what no disk takes."""
        if "\0" in path or len(path) > MAX_PATH:
            raise _error(errno.EINVAL)
        joined = posixpath.normpath(posixpath.join("/", *(self.start if start is None else start), path))
        return tuple(name for name in joined.split("/") if name)

    def spot(self, names: Names) -> Spot | None:
        """The innermost place that contains these names; None for a folder above places. Raises FileNotFoundError."""
        inside = [place for place in self.places if names[: len(place.at)] == place.at]
        if inside:
            place = max(inside, key=lambda found: len(found.at))
            return Spot(place, names[len(place.at) :])
        if any(place.at[: len(names)] == names for place in self.places):
            return None
        raise _error(errno.ENOENT)

    def between(self, names: Names) -> list[str]:
        """Names of the places, or folders above them, directly below these."""
        depth = len(names)
        below = {place.at[depth] for place in self.places if len(place.at) > depth and place.at[:depth] == names}
        return sorted(below)

    def resolved(self, path: str, *, last: bool = True) -> Names:
        """Names without a link among them; with `last` False a link at the end is left. It need not exist."""
        names = self.absolute(path)
        for _turn in range(MAX_LINKS):
            found = self._first_link(names if last else names[:-1])
            if found is None:
                return names
            count, text = found
            names = self.absolute(posixpath.join(text, *names[count:]), names[: count - 1])
        raise _error(errno.ELOOP)

    def _first_link(self, names: Names) -> tuple[int, str] | None:
        """Which of the names is a link, counted from one, and its text."""
        for count in range(1, len(names) + 1):
            text = self._link(names[:count])
            if text is not None:
                return count, text
        return None

    def _link(self, names: Names) -> str | None:
        spot = self.spot(names)
        if spot is None or not spot.names:
            return None
        try:
            with opened_parent(spot) as (parent, name):
                return os.readlink(name, dir_fd=parent)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
                return None
            raise


@contextmanager
def opened_parent(spot: Spot) -> Iterator[tuple[int, str]]:
    """The open folder that an entry is in, and the entry's name. Raises OSError; for the root itself EBUSY."""
    if not spot.names:
        raise _error(errno.EBUSY)
    descriptor = open_folder(Spot(spot.place, spot.names[:-1]))
    try:
        yield descriptor, spot.names[-1]
    finally:
        os.close(descriptor)


def open_folder(spot: Spot) -> int:
    """A descriptor of a folder, reached without following a link. Raises OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(spot.place.root.path, flags)
    for name in spot.names:
        try:
            child = os.open(name, flags | os.O_NOFOLLOW, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = child
    return descriptor


def require_writable(spot: Spot) -> None:
    if not spot.place.root.writable:
        raise _error(errno.EROFS)


def status_of(spot: Spot) -> os.stat_result:
    """Of the entry itself, not of what a link names. Raises OSError."""
    if not spot.names:
        return os.stat(spot.place.root.path, follow_symlinks=False)
    with opened_parent(spot) as (parent, name):
        return os.stat(name, dir_fd=parent, follow_symlinks=False)


def is_shown(status: os.stat_result) -> bool:
    """Whether the entry is listed; pipes, sockets and devices are not."""
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode)


def namespace_of(guest: Guest, actor: Actor) -> Namespace:
    """What the guest sees now, without what is gone or no longer shared. Raises `NotFound`."""
    if guest.kind is Kind.VOLUME:
        return Namespace((), (Place((), roots.resolve(actor, RootKind.VOLUME, guest.id)),))
    environment = Environment.objects.select_related("home").get(pk=guest.id)
    home = Place(_names(HOME), roots.root_of_folder(environment.home))
    return Namespace(home.at, (home, *_mounted(actor, environment)))


def _mounted(actor: Actor, environment: Environment) -> Iterator[Place]:
    for row in environment.mounts:
        kind = RootKind(row["kind"])
        try:
            root = roots.resolve(actor, kind, UUID(row["id"]))
        except DomainError:
            continue
        yield Place(_names(row["target"]), replace(root, writable=False) if row["read_only"] else root)


def _names(path: str) -> Names:
    return tuple(name for name in path.split("/") if name)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
