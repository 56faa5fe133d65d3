"""Fetching one commit of a repository, without its history, and reading its files."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore

from apps.storage.archives import MAX_FILES
from apps.training.git.confinement import Ended, Workshop, program
from apps.training.git.connecting import Login, host_shown, look, remote
from apps.training.git.origin import Wanted
from apps.training.git.problems import SECONDS, Asked, Failed, Problem, refusal
from apps.training.git.remote import NAMED, PACK_BYTES, finished, shown
from apps.training.git.ssh.address import SshAddress
from apps.training.git.ssh.host_keys import HostKey
from apps.training.git.tree import LONGEST_LINK, Content, Entry, Mode, contents, leaving, listed

# Of one process: who waits for a slow server takes a thread that answers others.
_turns = BoundedSemaphore(2)
# A line for each file.
LISTING_BYTES = (MAX_FILES + 1) * 1200
DESCRIBED = "--format=%H%x00%an%x00%aI%x00%s"


@dataclass(frozen=True, slots=True)
class Commit:
    """`entries`: of the folder that was asked for. `links`: where its symbolic links lead, by path."""

    name: str
    author: str
    date: str
    subject: str
    entries: tuple[Entry, ...]
    links: dict[str, str]
    _shop: Workshop

    @property
    def files(self) -> list[Entry]:
        return [each for each in self.entries if each.is_file]

    @property
    def submodules(self) -> list[str]:
        return [each.path for each in self.entries if each.mode is Mode.SUBMODULE]

    @contextmanager
    def read(self) -> Iterator[Iterator[tuple[Entry, Content]]]:
        """Its files with their contents, exactly as they are committed."""
        with _read(self._shop, self.files) as found:
            yield found


@contextmanager
def fetched(wanted: Wanted, login: Login) -> Iterator[Commit]:
    """The commit that is named now; it can be read inside the `with`. `wanted` is cleaned.

    Raises `Invalid` with the field, `Conflict` while too many are fetched, `Unavailable` without git.
    """
    with _refusing(wanted, has_login=bool(login)), _workshop() as shop:
        yield _fetch(shop, wanted, login)


def shown_host_key(wanted: Wanted, address: SshAddress) -> HostKey:
    """The key that the server shows now, to whom nothing is said. Raises as `fetched` does."""
    with _refusing(wanted, has_login=False), _workshop() as shop:
        finished(shop.run("init", "--quiet", "--bare", "--template="))
        return look(shop, wanted.address, address)


@contextmanager
def _refusing(wanted: Wanted, *, has_login: bool) -> Iterator[None]:
    try:
        yield
    except Failed as failed:
        asked = Asked(host_shown(wanted.address), wanted.ref or "HEAD", wanted.path, has_login)
        raise refusal(failed, asked) from failed


@contextmanager
def _workshop() -> Iterator[Workshop]:
    if program() is None:
        raise Failed(Problem.NO_GIT)
    if not _turns.acquire(blocking=False):
        raise Failed(Problem.BUSY)
    try:
        with tempfile.TemporaryDirectory(prefix="plstack-git-") as folder:
            shop = Workshop(Path(folder), time.monotonic() + SECONDS)
            shop.prepare()
            yield shop
    finally:
        _turns.release()


def _fetch(shop: Workshop, wanted: Wanted, login: Login) -> Commit:
    finished(shop.run("init", "--quiet", "--bare", "--template=", "--initial-branch=main"))
    with remote(shop, wanted, login) as found:
        found.fetch(wanted.ref or "HEAD")
    described = _text(shop.run("log", "-1", "--no-show-signature", DESCRIBED, "FETCH_HEAD^{commit}", "--"))
    name, author, date, subject = described.rstrip("\n").split("\0")
    entries = listed(finished(shop.run(*_listing(shop, name, wanted.path), most=LISTING_BYTES)).read_bytes())
    links = _links(shop, [each for each in entries if each.mode is Mode.LINK])
    if lost := leaving(links):
        raise Failed(Problem.LINKS, tuple(lost[:NAMED]))
    return Commit(name, shown(author), date, shown(subject), tuple(entries), links, shop)


def _text(ended: Ended) -> str:
    """Raises `Failed`, also for what is no commit."""
    found = finished(ended).read_text(errors="replace")
    if found.count("\0") != 3:
        raise Failed(Problem.NO_REF)
    return found


def _listing(shop: Workshop, commit: str, path: str) -> tuple[str, ...]:
    """The command that lists the folder. Raises `Failed` where there is none."""
    tree = f"{commit}:{path}" if path else f"{commit}^{{tree}}"
    kind = shop.run("cat-file", "-t", tree)
    if path and (kind.code != 0 or kind.out.read_text().strip() != "tree") and not kind.timed_out:
        raise Failed(Problem.NO_FOLDER)
    finished(kind)
    return "ls-tree", "-r", "-l", "-z", tree


def _links(shop: Workshop, entries: list[Entry]) -> dict[str, str]:
    long = [each.path for each in entries if each.size > LONGEST_LINK]
    if long:
        raise Failed(Problem.LINKS, tuple(long[:NAMED]))
    found = {}
    with _read(shop, entries) as read:
        for entry, content in read:
            target = b"".join(content.chunks())
            if not target or b"\0" in target:
                raise Failed(Problem.LINKS, (entry.path,))
            found[entry.path] = target.decode(errors="surrogateescape")
    return found


@contextmanager
def _read(shop: Workshop, entries: list[Entry]) -> Iterator[Iterator[tuple[Entry, Content]]]:
    names = shop.folder / "names"
    names.write_text("".join(f"{each.sha}\n" for each in entries))
    with finished(shop.run("cat-file", "--batch", "--buffer", stdin=names, most=PACK_BYTES)).open("rb") as source:
        yield contents(entries, source)
