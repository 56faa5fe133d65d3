"""Closes the platform's folders to the other accounts of the machine, at every start: earlier versions left them open.

The platform reaches them as their owner. Sandboxes reach what is mounted into them, which root resolves; so no tenant's
user id has to pass through any of these. The embedded servers' folders are closed by `account.private_folder`.
"""

import os
from pathlib import Path

MADE = ("data", "keys", "logs", "mail", "media", "run", "runtimes", "secrets", "static")
# Made by the drivers, to whom it means something that one is not there.
CLOSED = (*MADE, "runs", "simulated")
# One level of files in these was written with the modes of anybody's files.
FLAT = ("logs", "mail", "keys")
FILES = ("uids.json", "uids.lock")


def close_home(home: Path) -> None:
    """Make each of the folders, or take away what other accounts may do in it."""
    for name in MADE:
        (home / name).mkdir(mode=0o700, exist_ok=True)
    for folder in (home / name for name in CLOSED):
        if folder.exists():
            _restrict(folder, 0o700)
    for path in [*(home / name for name in FILES), *(file for name in FLAT for file in (home / name).iterdir())]:
        if path.is_file() and not path.is_symlink():
            _restrict(path, 0o600)


def _restrict(path: Path, mode: int) -> None:
    """Leaves alone what belongs to somebody else: an operator's own folder, linked here."""
    status = path.stat()
    if status.st_uid == os.geteuid() and status.st_mode & 0o077:
        path.chmod(mode)
