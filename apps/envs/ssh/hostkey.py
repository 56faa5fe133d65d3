"""The SSH server's host key: created once, so that clients always recognise it."""

import os
from pathlib import Path
from uuid import uuid4

import asyncssh


def host_key(home: Path) -> asyncssh.SSHKey:
    """The Ed25519 key in `secrets/ssh_host_ed25519` (0600). If two processes create it at the same time, one wins."""
    path = home / "secrets" / "ssh_host_ed25519"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}-{uuid4().hex}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(asyncssh.generate_private_key("ssh-ed25519").export_private_key())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return asyncssh.read_private_key(path)
