"""A commit of a repository as the code of a run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.secrets.logins import password_of, private_key_of
from apps.storage import services as storage
from apps.storage.disk import require_free_space
from apps.storage.models import Folder
from apps.storage.services import TreeFile
from apps.training.git.connecting import Login
from apps.training.git.fetching import Commit, fetched, shown_host_key
from apps.training.git.origin import Origin, Wanted
from apps.training.git.ssh import host_keys
from apps.training.git.ssh.address import SshAddress, ssh_address
from apps.training.git.ssh.client import SshLogin
from apps.training.git.tree import LARGEST_POINTER, POINTER, Content, Entry, Mode

NAMED = 5
# Servers that take a bare token take it beside any name; GitLab and Gitee document this one.
TOKEN_NAME = "oauth2"  # noqa: S105 - a name


def fetch_code(actor: Actor, wanted: Wanted) -> Folder:
    """A new folder with the files of the commit that is named now; its `origin` says which that is.

    Raises `HostUnknown` where nobody confirmed the key of a server over SSH, `Invalid` with the field (of `Wanted`, or
    `secret`), `Conflict` while too many are fetched, `Unavailable` where git is not installed or the disk is
    full. Nothing is left behind then.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    require_free_space()
    wanted = wanted.cleaned()
    login: Login = ""
    if (over_ssh := ssh_address(wanted.address)) is not None:
        wanted = replace(wanted, username="")
        login = _ssh_login(actor, wanted, over_ssh)
    elif wanted.secret_id is not None:
        login = password_of(actor, wanted.secret_id)
        wanted = replace(wanted, username=wanted.username or TOKEN_NAME)
    with fetched(wanted, login) as commit:
        folder = _stored(actor, wanted, commit)
    record(
        actor,
        action="code.fetched",
        organisation_id=actor.organisation(),
        target=Target("folder", str(folder.pk), wanted.address[:200]),
        after={
            "ref": wanted.ref,
            "path": wanted.path,
            "commit": commit.name,
            "secret": str(wanted.secret_id or ""),
        },
    )
    return folder


def _ssh_login(actor: Actor, wanted: Wanted, address: SshAddress) -> SshLogin:
    if wanted.secret_id is None:
        raise Invalid.field(
            "secret",
            _("Over SSH, a private key logs in: choose the secret that has it."),
            hint=_("A public repository needs none over https."),
        )
    key = private_key_of(actor, wanted.secret_id)
    known = host_keys.known_key(actor, address)
    if known is None:
        shown = shown_host_key(wanted, address)
        known = host_keys.confirm(actor, address, shown, wanted.host_key)
    return SshLogin(key, known)


def _stored(actor: Actor, wanted: Wanted, commit: Commit) -> Folder:
    pointers: list[str] = []
    with commit.read() as found:
        files = _files(found, pointers)
        return storage.add_commit(
            actor, files, commit.links, origin=lambda: _origin(wanted, commit, pointers).as_json()
        )


def _origin(wanted: Wanted, commit: Commit, pointers: Sequence[str]) -> Origin:
    return Origin(
        address=wanted.address,
        ref=wanted.ref,
        path=wanted.path,
        commit=commit.name,
        subject=commit.subject,
        author=commit.author,
        date=commit.date,
        files=len(commit.files) + len(commit.links),
        size=sum(each.size for each in commit.files),
        username=wanted.username if wanted.secret_id else "",
        secret=str(wanted.secret_id or ""),
        submodules=tuple(commit.submodules[:NAMED]),
        submodule_count=len(commit.submodules),
        pointers=tuple(pointers[:NAMED]),
        pointer_count=len(pointers),
    )


def _files(found: Iterable[tuple[Entry, Content]], pointers: list[str]) -> Iterator[TreeFile]:
    """`pointers` takes the paths of those that stand for content which is with Git LFS."""
    for entry, content in found:
        yield TreeFile(entry.path, content.chunks(), executable=entry.mode is Mode.EXECUTABLE)
        if entry.size <= LARGEST_POINTER and content.begins.startswith(POINTER):
            pointers.append(entry.path)
