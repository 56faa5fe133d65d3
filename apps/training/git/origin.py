"""Which commit of which repository: as people name it, and as it was found."""

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.outgoing import host_of
from apps.storage.models import Folder
from apps.storage.safe_open import split_path
from apps.training.git.ssh.address import ssh_address

LONGEST_ADDRESS, LONGEST_REF, LONGEST_PATH, LONGEST_USER = 500, 200, 500, 200
LONGEST_FINGERPRINT = 100
# As git-check-ref-format(1) has it; and nothing that reads as an option, a range or a revision's expression.
_REF = re.compile(r"(?![-+])(?!.*(?:\.\.|@\{|//))[^\x00-\x20\x7f~^:?*\[\\]+(?<![./])", re.ASCII)
_NUMBER = re.compile(r"[0-9a-fA-F]{7,40}", re.ASCII)
SHORT = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """`ref`: a branch, a tag or a commit by 7 of its digits or more; empty for the repository's default branch.

    `path`: of a folder inside. `secret_id`: the secret with the password or token for `username`, for a repository that
    is not public; over SSH it has the private key. `host_key`: the fingerprint of the server's key, which is confirmed
    with it where the organisation does not know the server yet.
    """

    address: str
    ref: str = ""
    path: str = ""
    username: str = ""
    secret_id: UUID | None = None
    host_key: str = ""

    def cleaned(self) -> "Wanted":
        """Raises `Invalid` with the field (`address`, `ref`, `path`, `username`)."""
        return Wanted(
            _clean_address(self.address.strip()),
            _clean_ref(self.ref.strip()),
            _clean_path(self.path.strip()),
            _clean_username(self.username.strip()),
            self.secret_id,
            self.host_key.strip()[:LONGEST_FINGERPRINT],
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """The commit that a folder of code is. `date`: ISO 8601, of the author. `secret`: the id of it, "" for none.

    `submodules` are folders that stay empty, `pointers` files whose content is with Git LFS: the first of them, and
    `submodule_count`, `pointer_count` say how many there are.
    """

    address: str
    ref: str
    path: str
    commit: str
    subject: str
    author: str
    date: str
    files: int
    size: int
    username: str = ""
    secret: str = ""
    submodules: tuple[str, ...] = ()
    submodule_count: int = 0
    pointers: tuple[str, ...] = ()
    pointer_count: int = 0

    @property
    def short(self) -> str:
        return self.commit[:SHORT]

    @property
    def when(self) -> datetime:
        return datetime.fromisoformat(self.date)

    @property
    def follows(self) -> bool:
        """Whether what was asked for may be another commit by now: it was not the number, or the beginning of it."""
        return not (_NUMBER.fullmatch(self.ref) and self.commit.startswith(self.ref.lower()))

    def is_of(self, wanted: Wanted) -> bool:
        return (self.address, self.ref, self.path) == (wanted.address, wanted.ref, wanted.path)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def origin_of(folder: Folder | None) -> Origin | None:
    """None for code that was uploaded or written."""
    found = folder.origin if folder is not None else None
    if not found:
        return None
    lists = {name: tuple(found.get(name, ())) for name in ("submodules", "pointers")}
    return Origin(**{**found, **lists})


def _clean_address(address: str) -> str:
    if not address:
        raise Invalid.field("address", _("Give the address of the repository."))
    if len(address) <= LONGEST_ADDRESS and ssh_address(address) is not None:
        return address.rstrip("/")
    if len(address) > LONGEST_ADDRESS or not address.startswith("https://"):
        raise Invalid.field(
            "address",
            _("This is no https or SSH address of a repository."),
            hint=_("It looks like https://github.com/name/project.git, or git@github.com:name/project.git."),
        )
    try:
        host_of(address)
        parts = urlsplit(address)
    except Invalid as error:
        raise Invalid.field("address", error.message, hint=error.hint) from error
    if parts.query or parts.fragment or "?" in address or "#" in address:
        raise Invalid.field("address", _("Leave out what stands behind the path of the repository, from ? or # on."))
    return address.rstrip("/")


def _clean_ref(ref: str) -> str:
    if ref and (len(ref) > LONGEST_REF or not _REF.fullmatch(ref)):
        raise Invalid.field("ref", _("This is no name of a branch, a tag or a commit."))
    return ref


def _clean_path(path: str) -> str:
    try:
        names = split_path(path.strip("/"))
    except Invalid as error:
        raise Invalid.field("path", _("This is no path of a folder in the repository.")) from error
    if len(path) > LONGEST_PATH or "\\" in path:
        raise Invalid.field("path", _("This is no path of a folder in the repository."))
    return "/".join(names)


def _clean_username(name: str) -> str:
    if ":" in name or len(name) > LONGEST_USER or not name.isprintable():
        raise Invalid.field("username", _("This is no user name."))
    return name
