"""Close the platform's folders to other accounts of the machine at every start: earlier versions left them open.

The platform reaches them as their owner. Sandboxes reach only their mounts, which root resolves, so no tenant's user id
needs access to any of these. The embedded servers' folders are closed by `account.private_folder`.
"""

import os
from pathlib import Path

MADE = ("data", "keys", "logs", "mail", "media", "run", "runtimes", "secrets", "static")
# The drivers create the other two, whose absence has a meaning for them.
CLOSED = (*MADE, "runs", "simulated")
# Folders in which earlier versions wrote files with default modes, at the top level only.
FLAT = ("logs", "mail", "keys")
FILES = ("uids.json", "uids.lock")


def close_home(home: Path) -> None:
    """Create each folder, or remove the permissions of other accounts."""
    for name in MADE:
        (home / name).mkdir(mode=0o700, exist_ok=True)
    for folder in (home / name for name in CLOSED):
        if folder.exists():
            _restrict(folder, 0o700)
    for path in [*(home / name for name in FILES), *(file for name in FLAT for file in (home / name).iterdir())]:
        if path.is_file() and not path.is_symlink():
            _restrict(path, 0o600)


def _restrict(path: Path, mode: int) -> None:
    """Restrict the mode, unless it belongs to somebody else, like an operator's folder linked here."""
    status = path.stat()
    if status.st_uid == os.geteuid() and status.st_mode & 0o077:
        path.chmod(mode)
