"""What an agent remembers between its starts: who it is to the platform, and the secret that both know."""

import json
import os
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "agent.json"
MARKER = ".plstack-root"
"""A file at the top of the platform's data folder, which says whose it is."""


class Unfit(Exception):
    """The machine, or what was typed, does not do; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`platform_data`: where the platform has the folder that is `data` here. `secret` in hexadecimal.

    `via`: an address at which the platform is reached in place of `server`; "" for none.
    """

    server: str
    node_id: str
    name: str
    secret: str
    data: str
    platform_data: str
    host: str
    port: int
    certificate: str = ""
    key: str = ""
    via: str = ""


def save(home: Path, identity: Identity) -> None:
    """Readable by its owner only, and there as a whole or not at all."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = home / f"{FILE}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(identity), file)
    draft.replace(home / FILE)


def load(home: Path) -> Identity:
    """Raises Unfit where this machine has not joined."""
    try:
        return Identity(**json.loads((home / FILE).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise Unfit(f"{home / FILE} cannot be read: join first, with a token from the console.") from error


def has_joined(home: Path) -> bool:
    return (home / FILE).exists()


def machine_id(home: Path) -> str:
    """The same for ever on this machine, so that a second join is known to be its."""
    path = home / "machine-id"
    if not path.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(str(uuid.uuid4()))
    return path.read_text().strip()


def read_marker(data: Path) -> str:
    """Whose data folder this is. Raises Unfit where the platform's files are not there."""
    try:
        return (data / MARKER).read_text().strip()
    except OSError as error:
        raise Unfit(
            f"{data} is not the platform's data folder: {MARKER} is not in it. "
            "Mount the platform's data (by NFS, for example) and name it with --data."
        ) from error
