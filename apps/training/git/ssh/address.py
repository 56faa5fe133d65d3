"""Addresses of repositories over SSH: `ssh://git@example.org/a.git`, and `git@example.org:a.git` as scp writes it."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.outgoing import host_of
from apps.workloads.gateway.ways import shown_host

PORT = 22
USER = "git"
"""Whom servers of Git know, where the address names nobody."""
PORTS = (PORT, 443)
"""On which any public host may be asked; some serve SSH on 443 for those who sit behind a firewall."""
_USER = r"(?P<user>[A-Za-z0-9_][\w.-]{0,63})"
_URL = re.compile(rf"ssh://(?:{_USER}@)?(?P<host>[^/@\s\[\]:]+)(?::(?P<port>\d{{1,5}}))?/(?P<path>\S+)", re.ASCII)
_SCP = re.compile(rf"{_USER}@(?P<host>[^/@\s\[\]:]+):(?P<path>[^\s:]\S*)", re.ASCII)
_LIKE = re.compile(r"ssh://|[^/\s]+@[^/\s]+:", re.ASCII)


@dataclass(frozen=True, slots=True)
class SshAddress:
    """`known_name`: how files of known hosts name the server, see sshd(8)."""

    user: str
    host: str
    port: int

    @property
    def known_name(self) -> str:
        return self.host if self.port == PORT else f"[{self.host}]:{self.port}"

    @property
    def shown(self) -> str:
        return self.host if self.port == PORT else f"{self.host}:{self.port}"

    @property
    def as_web(self) -> str:
        """For the check of where the platform may connect, which reads web addresses."""
        return f"https://{shown_host(self.host)}:{self.port}/"


def ssh_address(address: str) -> SshAddress | None:
    """None for one of another kind. Raises `Invalid` (field `address`) for one that only begins so."""
    if not _LIKE.match(address):
        return None
    found = _URL.fullmatch(address) or _SCP.fullmatch(address)
    if found is None or any(sign in address for sign in "\\'\"") or "-" in (found["host"][0], found["path"][0]):
        raise _refused()
    port = int(found.groupdict().get("port") or PORT)
    if not 0 < port < 65536:
        raise _refused()
    try:
        host = host_of(f"https://{found['host']}/")
    except Invalid as error:
        raise _refused() from error
    return SshAddress(found["user"] or USER, host, port)


def _refused() -> Invalid:
    return Invalid.field(
        "address",
        _("This is no SSH address of a repository."),
        hint=_("It looks like git@github.com:name/project.git, or ssh://git@example.org:2222/name/project.git."),
    )
