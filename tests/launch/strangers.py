"""What another account of the machine can do in a folder: tried by a child that has become `nobody`."""

import json
import os
import pwd
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any


def as_nobody(ask: Callable[[], Any]) -> Any:
    """What `ask` returns (JSON) in a child with the user and group id of `nobody` and no rights of root."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            nobody = pwd.getpwnam("nobody")
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            os.write(writer, json.dumps(ask()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        told = answers.read()
    os.waitpid(child, 0)
    return json.loads(told)


def open_in(home: Path) -> list[str]:
    """Everything below that one may list, read, write or connect to, by its path in `home`."""
    found = [f"{home.name}: writable"] if os.access(home, os.W_OK) else []
    # By name, as who knows a path would ask; what can be listed shows its names itself.
    waiting = [home / name for name in names_of(home)]
    while waiting:
        path = waiting.pop()
        name = str(path.relative_to(home))
        if os.access(path, os.R_OK) or os.access(path, os.W_OK):
            found.append(name)
        waiting += [path / inner for inner in names_of(path)]
        if _connects(path):
            found.append(f"{name}: connectable")
    return sorted(found)


NAMES: dict[str, list[str]] = {}


def remember_names(home: Path) -> None:
    """For the child, which could not list them: whoever knows a path needs no list."""
    NAMES.clear()
    for folder, folders, files in os.walk(home):
        NAMES[folder] = [*folders, *files]


def names_of(folder: Path) -> list[str]:
    return NAMES.get(str(folder), [])


def _connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as visitor:
        try:
            visitor.connect(str(path))
        except OSError:
            return False
    return True


def open_to_strangers(home: Path) -> list[str]:
    remember_names(home)
    found: list[str] = as_nobody(lambda: open_in(home))
    return found
