"""OpenSSH as git calls it in its sandbox: one key, one known server, nothing of anybody's configuration."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from apps.training.git.confinement import WAY_PORT, Ended, Workshop
from apps.training.git.ssh.address import SshAddress
from apps.training.git.ssh.host_keys import HostKey, host_key_in

KEY, KNOWN, SEEN = "key", "known_hosts", "seen"
LONGEST_SEEN = 64 * 1024
# The connection leads to a port of the sandbox's own loopback, and is checked by the name of the server.
_RULES = {
    "HostName": "127.0.0.1",
    "BatchMode": "yes",
    "IdentitiesOnly": "yes",
    "IdentityAgent": "none",
    "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no",
    "GlobalKnownHostsFile": "/dev/null",
    "CheckHostIP": "no",
    "UpdateHostKeys": "no",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "PermitLocalCommand": "no",
    "ControlMaster": "no",
    "ControlPath": "none",
    "ConnectionAttempts": "1",
}


@dataclass(frozen=True, slots=True)
class SshLogin:
    """`key`: a private one, without a passphrase. `host_key`: the one that the server has to show."""

    key: str
    host_key: HostKey


def is_installed() -> bool:
    return shutil.which("ssh", path=os.defpath) is not None


def logging_in(shop: Workshop, address: SshAddress, login: SshLogin) -> str:
    """The command for git, after putting what it needs where it finds it."""
    known = shop.way.with_name(KNOWN)
    known.write_text(f"{address.known_name} {login.host_key.line}\n")
    known.chmod(0o644)
    shop.write_own(KEY, login.key)
    return _command(
        address,
        {
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": shop.inside(known),
            "PreferredAuthentications": "publickey",
            "IdentityFile": shop.own_inside(KEY),
        },
    )


def looking(shop: Workshop, address: SshAddress) -> str:
    """A command that notes the server's key, and offers it nothing to log in with."""
    return _command(
        address,
        {
            "StrictHostKeyChecking": "accept-new",
            "HashKnownHosts": "no",
            "UserKnownHostsFile": shop.own_inside(SEEN),
            "PreferredAuthentications": "none",
            "IdentityFile": "none",
        },
    )


def seen(shop: Workshop) -> HostKey | None:
    """What `looking` noted."""
    path = Path(shop.own, SEEN)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        return host_key_in(file.read(LONGEST_SEEN).decode(errors="replace"))


def look(shop: Workshop, address: SshAddress, url: str) -> tuple[Ended, HostKey | None]:
    ended = shop.run("ls-remote", "--quiet", "--", url, networked=True, ssh=looking(shop, address))
    return ended, seen(shop)


def _command(address: SshAddress, more: dict[str, str]) -> str:
    """Words without blanks or quotes: git hands the line to a shell, which puts in the port that only it knows."""
    options = {**_RULES, "HostKeyAlias": address.known_name, "User": address.user, **more}
    return " ".join(["ssh", "-F", "none", "-o", f"Port=${WAY_PORT}", *(f"-o '{k}={v}'" for k, v in options.items())])
