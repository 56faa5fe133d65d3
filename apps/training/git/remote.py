"""The repository as its server gives it: one commit by its name, or by the beginning of its number."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.storage.archives import MAX_BYTES
from apps.training.git.confinement import MIB, Ended, Workshop
from apps.training.git.problems import Failed, Problem, problem_of
from apps.training.git.tunnel import Tunnel

log = logging.getLogger(__name__)

NAMED = 5
LONGEST_TEXT = 200
# A pack may hold more than the files of one commit unpack to.
PACK_BYTES = MAX_BYTES + 128 * MIB
NAMES_BYTES = 8 * MIB
# What holds the commits among which the beginning of a number is looked up: without their files.
HISTORY = "history"
ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_SHORT = re.compile(r"[0-9a-fA-F]{7,39}", re.ASCII)  # of 40


def is_short(ref: str) -> bool:
    """Whether it may be the beginning of a commit's number; branches and tags may be called so, too."""
    return _SHORT.fullmatch(ref) is not None


@dataclass(frozen=True, slots=True)
class Remote:
    """`config`, `ssh`: for git, how to get there. `opened`: the way there."""

    shop: Workshop
    address: str
    config: Mapping[str, str]
    opened: Tunnel
    ssh: str = ""

    def fetch(self, ref: str) -> None:
        """The commit that is named now, without its history, as FETCH_HEAD. Raises `Failed`.

        A branch or tag comes first, as with git itself, where its name could also be the beginning of a number.
        """
        try:
            self._fetch("--depth=1", ref)
        except Failed as failed:
            if failed.problem is not Problem.NO_REF or not is_short(ref):
                raise
            self._fetch("--depth=1", self._whole_name(ref.lower()))

    def _fetch(self, how: str, *refs: str, repository: str = "") -> None:
        words = ("fetch", "--quiet", how, "--no-tags", "--", self.address, *refs)
        ended = self.shop.run(
            *words, config=self.config, networked=True, most=PACK_BYTES, repository=repository, ssh=self.ssh
        )
        finished(ended, self.opened)

    def _whole_name(self, begins: str) -> str:
        """Of the only commit of all branches and tags whose number begins so. Raises `Failed`.

        Servers find commits by whole numbers alone, so the numbers of all are fetched; their files are left out, unless
        the server cannot (then the limits on size and time hold).
        """
        shop = self.shop
        finished(shop.run("init", "--quiet", "--bare", "--template=", repository=HISTORY))
        self._fetch("--filter=tree:0", *ALL, repository=HISTORY)
        found = finished(shop.run("rev-parse", f"--disambiguate={begins}", most=NAMES_BYTES, repository=HISTORY))
        names = shop.folder / "names"
        names.write_bytes(found.read_bytes())
        kinds = shop.run("cat-file", "--batch-check", stdin=names, most=NAMES_BYTES, repository=HISTORY)
        lines = [line.split(" ") for line in finished(kinds).read_text().splitlines()]
        commits = sorted(name for name, kind, *_size in lines if kind == "commit")
        if len(commits) > 1:
            raise Failed(Problem.AMBIGUOUS, tuple(commits[:NAMED]))
        if not commits:
            raise Failed(Problem.NO_REF)
        return commits[0]


def finished(ended: Ended, opened: Tunnel | None = None) -> Path:
    """What a command printed, in a file. Raises `Failed`; `opened`: the way on which it was."""
    if ended.code == 0:
        return ended.out
    if opened is not None and not ended.timed_out and opened.elsewhere:
        raise Failed(Problem.MOVED)
    if opened is not None and not ended.timed_out and opened.unreachable:
        raise Failed(Problem.UNREACHABLE)
    problem = problem_of(ended)
    if problem is Problem.BROKEN:
        log.warning("git: %s", shown(ended.said.strip().replace("\n", " ")[-LONGEST_TEXT:]))
    raise Failed(problem)


def shown(text: str) -> str:
    """Without what no page shows, and no longer than a line."""
    return "".join(sign for sign in text if sign.isprintable())[:LONGEST_TEXT].strip()
