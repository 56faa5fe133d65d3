"""The agent's stored identity: its node id on the platform and their shared secret."""

import json
import os
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "agent.json"
MARKER = ".plstack-root"
"""A file at the top of the platform's data folder that identifies the platform."""


class AgentError(Exception):
    """The machine or an argument is unsuitable; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`platform_data`: the platform's path of the folder that is `data` here. `secret` is hexadecimal.

    `via`: an address to use instead of `server` to reach the platform; "" for none. `network_address`: this machine's
    on the network between the nodes; "" for the one from which it reaches the platform.
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
    network_address: str = ""


def save(home: Path, identity: Identity) -> None:
    """Write the file atomically, readable by its owner only."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = home / f"{FILE}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(identity), file)
    draft.replace(home / FILE)


def load(home: Path) -> Identity:
    """Raises AgentError if this machine has not joined."""
    try:
        return Identity(**json.loads((home / FILE).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise AgentError(f"{home / FILE} cannot be read: join first, with a token from the console.") from error


def has_joined(home: Path) -> bool:
    return (home / FILE).exists()


def machine_id(home: Path) -> str:
    """A permanent id of this machine, by which the platform recognises a second join."""
    path = home / "machine-id"
    if not path.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(str(uuid.uuid4()))
    return path.read_text().strip()


def read_marker(data: Path) -> str:
    """The id of the platform whose data folder this is. Raises AgentError if the marker is missing."""
    try:
        return (data / MARKER).read_text().strip()
    except OSError as error:
        raise AgentError(
            f"{data} is not the platform's data folder: {MARKER} is not in it. "
            "Mount the platform's data (by NFS, for example) and name it with --data."
        ) from error
