"""What can be wrong with a repository: a code, told from what git says, and its words beside the field to change."""

import signal
from dataclasses import dataclass
from enum import Enum, auto

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Conflict, DomainError, Invalid, Text, Unavailable
from apps.training.git.confinement import Ended

SECONDS = 60
"""All of a fetch together: somebody waits for it, and a proxy in front of the site waits no longer."""


class Problem(Enum):
    AMBIGUOUS = auto()
    BROKEN = auto()
    BUSY = auto()
    EMPTY = auto()
    EMPTY_FOLDER = auto()
    HOST_CHANGED = auto()
    KEY_REFUSED = auto()
    LINKS = auto()
    LOGIN_REFUSED = auto()
    MOVED = auto()
    NAME = auto()
    NO_EGRESS = auto()
    NO_FOLDER = auto()
    NO_GIT = auto()
    NO_HOST = auto()
    NO_REF = auto()
    NO_SSH = auto()
    NOT_FOUND = auto()
    NOT_LISTED = auto()
    NOT_PUBLIC = auto()
    PRIVATE = auto()
    SSH_PORT = auto()
    TOO_LARGE = auto()
    TOO_SLOW = auto()
    UNREACHABLE = auto()
    UNSOUND = auto()
    UNTRUSTED = auto()


class Failed(Exception):
    """`names`: what it is about, of files or of the host."""

    def __init__(self, problem: Problem, names: tuple[str, ...] = ()) -> None:
        super().__init__(problem.name)
        self.problem, self.names = problem, names


# What git, curl and ssh say in their own English (LC_ALL=C), the more special first.
_SAID: tuple[tuple[str, Problem], ...] = (
    ("host key verification failed", Problem.HOST_CHANGED),
    ("permission denied (", Problem.KEY_REFUSED),
    ("couldn't find remote ref head", Problem.EMPTY),
    ("couldn't find remote ref", Problem.NO_REF),
    ("not our ref", Problem.NO_REF),
    ("unadvertised object", Problem.NO_REF),
    ("fsck error", Problem.UNSOUND),
    ("error in object", Problem.UNSOUND),
    ("early eof", Problem.UNREACHABLE),
    (f"died of signal {signal.SIGXFSZ.value}", Problem.TOO_LARGE),
    ("invalid index-pack output", Problem.TOO_LARGE),
    ("file too large", Problem.TOO_LARGE),
    ("out of memory", Problem.TOO_LARGE),
    ("authentication failed", Problem.PRIVATE),
    ("could not read username", Problem.PRIVATE),
    ("could not read password", Problem.PRIVATE),
    ("returned error: 401", Problem.PRIVATE),
    ("returned error: 403", Problem.PRIVATE),
    ("unable to update url base from redirection", Problem.MOVED),
    ("returned error: 30", Problem.MOVED),
    ("disabled in libcurl", Problem.MOVED),
    ("returned error: 404", Problem.NOT_FOUND),
    ("returned error: 410", Problem.NOT_FOUND),
    ("not found", Problem.NOT_FOUND),
    ("not valid: is this a git repository", Problem.NOT_FOUND),
    ("not appear to be a git repository", Problem.NOT_FOUND),
    ("certificate", Problem.UNTRUSTED),
    ("ssl", Problem.UNTRUSTED),
    ("tls", Problem.UNTRUSTED),
    ("could not resolve", Problem.UNREACHABLE),
    ("failed to connect", Problem.UNREACHABLE),
    ("couldn't connect", Problem.UNREACHABLE),
    ("returned error: 5", Problem.UNREACHABLE),
    ("empty reply", Problem.UNREACHABLE),
    ("kex_exchange_identification", Problem.UNREACHABLE),
    ("connection closed", Problem.UNREACHABLE),
    ("connection reset", Problem.UNREACHABLE),
    # Over SSH, what the server said beside it may come too late.
    ("could not read from remote repository", Problem.NOT_FOUND),
)


def problem_of(ended: Ended) -> Problem:
    """Of a command of git that did not succeed."""
    if ended.timed_out:
        return Problem.TOO_SLOW
    if ended.code == 128 + signal.SIGXFSZ:
        return Problem.TOO_LARGE
    said = ended.said.lower()
    return next((problem for words, problem in _SAID if words in said), Problem.BROKEN)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the words name. `host`: with its port where that is not the usual one."""

    host: str
    ref: str
    path: str
    has_login: bool


def refusal(failed: Failed, asked: Asked) -> DomainError:
    """Beside the field that has to be changed; what nobody can change in the form stands above it."""
    problem, names = failed.problem, {"names": ", ".join(failed.names), "host": asked.host, "seconds": SECONDS}
    if problem is Problem.BUSY:
        return Conflict(_("Other repositories are being fetched at the moment."), hint=_("Try again in a minute."))
    if problem is Problem.NO_GIT:
        return Unavailable(
            _("git is not installed where the platform runs."),
            hint=_("The platform's administrators can install it. Until then, upload the files."),
        )
    if problem is Problem.NO_SSH:
        return Unavailable(
            _("ssh is not installed where the platform runs."),
            hint=_("The platform's administrators can install it. Until then, give the https address."),
        )
    if problem is Problem.PRIVATE and asked.has_login:
        problem = Problem.LOGIN_REFUSED
    field, message, hint = _WORDS.get(problem, _WORDS[Problem.BROKEN])
    values = {**names, "ref": asked.ref, "path": asked.path}
    return Invalid.field(field, str(message) % values, hint=str(hint) % values)


_WORDS: dict[Problem, tuple[str, Text, Text]] = {
    Problem.AMBIGUOUS: (
        "ref",
        _("Several commits have a number that begins with “%(ref)s”: %(names)s."),
        _("Give more digits of the one that you mean."),
    ),
    Problem.BROKEN: (
        "address",
        _("The repository could not be read."),
        _("Check that git clone works with this address."),
    ),
    Problem.EMPTY: ("address", _("The repository has no commit yet, or no default branch."), _("Name a branch of it.")),
    Problem.EMPTY_FOLDER: ("path", _("There is no file in it."), _("Choose another folder or branch.")),
    Problem.HOST_CHANGED: (
        "address",
        _("%(host)s shows another key than the one that your organisation knows. Nothing was sent to it."),
        _("Ask its operator: somebody may pretend to be it. Only if the key was changed, forget the old one."),
    ),
    Problem.KEY_REFUSED: (
        "secret",
        _("%(host)s does not accept this key."),
        _("Add its public key there: to an account that may read the repository, or as a deploy key."),
    ),
    Problem.LINKS: (
        "address",
        _("It has symbolic links that lead out of it: %(names)s."),
        _("Replace them by files, or by links to files of the same folder."),
    ),
    Problem.LOGIN_REFUSED: (
        "secret",
        _("%(host)s refuses this user name and token."),
        _("The token may have expired, or may not read this repository."),
    ),
    Problem.MOVED: (
        "address",
        _("The repository has moved: %(host)s leads on to another place, which is not followed."),
        _("Open it in a browser, and give the address that it has there."),
    ),
    Problem.NAME: (
        "address",
        _("A file of it has a name that code of a run may not have: %(names)s."),
        _("Rename it in the repository."),
    ),
    Problem.NO_EGRESS: (
        "address",
        _("%(host)s cannot be reached: this installation lets nothing out."),
        _("The platform's administrators decide that with PLSTACK_EGRESS."),
    ),
    Problem.NO_FOLDER: (
        "path",
        _("The commit has no folder “%(path)s”."),
        _("Upper and lower case differ. Empty: all of the repository."),
    ),
    Problem.NO_HOST: ("address", _("There is no host %(host)s."), _("Check the spelling of the address.")),
    Problem.NO_REF: (
        "ref",
        _("The repository has no branch, tag or commit “%(ref)s”."),
        _("A commit is named by 7 or more of its digits."),
    ),
    Problem.NOT_FOUND: (
        "address",
        _("There is no repository at this address, or it is private."),
        _("Check the spelling; for a private one choose a secret with a token that may read it."),
    ),
    Problem.NOT_LISTED: (
        "address",
        _("%(host)s is not among the hosts that may be reached from here."),
        _("The platform's administrators can add it to PLSTACK_EGRESS."),
    ),
    Problem.NOT_PUBLIC: (
        "address",
        _("%(host)s is at a private, local or reserved address, which may not be reached."),
        _("The platform's administrators can allow single hosts with PLSTACK_EGRESS_ALLOW."),
    ),
    Problem.PRIVATE: (
        "secret",
        _("%(host)s asks for a login: the repository is private, or does not exist."),
        _("Check the address, or choose a secret with a token that may read it."),
    ),
    Problem.SSH_PORT: (
        "address",
        _("Over SSH, hosts are reached on the ports 22 and 443 only."),
        _("The platform's administrators can allow another with PLSTACK_EGRESS_ALLOW, as host:port."),
    ),
    Problem.TOO_LARGE: (
        "address",
        _("It is too large: code may have 5,000 files and 512 MiB at most."),
        _("Choose a folder of it, or keep its data in a volume or a dataset."),
    ),
    Problem.TOO_SLOW: (
        "address",
        _("%(host)s took longer than %(seconds)s seconds."),
        _("Try again later, or upload the files."),
    ),
    Problem.UNREACHABLE: ("address", _("%(host)s does not answer."), _("Check the address, or try again later.")),
    Problem.UNSOUND: (
        "address",
        _("git finds it damaged or harmful, and refuses it."),
        _("git fsck says in a clone of it what is wrong."),
    ),
    Problem.UNTRUSTED: (
        "address",
        _("The certificate of %(host)s is not trusted here."),
        _("The platform's administrators can add its authority in Settings → Software sources."),
    ),
}
