"""The machine's own Python inside of an image, which may have none: at a path of its own, with its own C library.

The first process of a sandbox is Python. Its loader is told where its libraries are, and looks into no cache or list of
the image's. Standard library only.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from apps.workloads.drivers.local import init
from apps.workloads.drivers.local.runtime import BASE_PREFIX, BASE_PYTHON
from apps.workloads.drivers.local.volumes import HostMount

INSIDE = "/run/plstack/python"
PROBE_S = 20
# After all that the first process imports, so that each library that it needs shows among its mappings.
_PROBE = (
    "import sys; sys.path.append(sys.argv[1]); from apps.workloads.drivers.local import init; import encodings.idna, "
    "traceback; print(open('/proc/self/maps').read())"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`mounts`: what of the machine it needs. `argv`: how it is started inside, before its own arguments."""

    mounts: tuple[HostMount, ...]
    argv: tuple[str, ...]


@lru_cache(maxsize=1)
def interpreter() -> Interpreter:
    """Raises OSError where this Python cannot be looked at."""
    mapped = [Path(path) for path in mapped_files()]
    base = {"installed_base": str(BASE_PREFIX), "platbase": str(BASE_PREFIX)}  # not those of a virtual environment
    stdlib = {Path(os.path.realpath(sysconfig.get_path(name, vars=base))) for name in ("stdlib", "platstdlib")}
    program = f"{INSIDE}/{os.path.relpath(BASE_PYTHON, BASE_PREFIX)}"
    mounts = [HostMount(str(BASE_PYTHON), program, read_only=True)]
    mounts += [HostMount(str(path), f"{INSIDE}/{os.path.relpath(path, BASE_PREFIX)}", read_only=True)
               for path in sorted(stdlib)]  # fmt: skip
    libraries = [path for path in mapped if ".so" in path.name and not any(path.is_relative_to(s) for s in stdlib)]
    loader = next((path for path in libraries if path.name.startswith("ld")), None)
    # Its own before the system's, which may have another Python's library of the same name.
    libraries.sort(key=lambda path: not path.is_relative_to(BASE_PREFIX))
    parents = dict.fromkeys(path.parent for path in libraries)
    folders = {parent: f"{INSIDE}/libraries/{number}" for number, parent in enumerate(parents)}
    mounts += [HostMount(str(path), inside, read_only=True) for path, inside in folders.items()]
    if loader is None:  # linked statically
        return Interpreter(tuple(mounts), (program,))
    started = f"{folders[loader.parent]}/{loader.name}"
    library_path = ":".join(folders.values())
    return Interpreter(tuple(mounts), (started, "--inhibit-cache", "--library-path", library_path, program))


def mapped_files() -> Iterator[str]:
    """The files that it has mapped, each once. Raises OSError."""
    project = str(Path(init.__file__).resolve().parents[4])
    try:
        told = subprocess.run(
            [str(BASE_PYTHON), "-I", "-S", "-c", _PROBE, project],
            stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=PROBE_S, env={"PATH": os.defpath},
        )  # fmt: skip
    except subprocess.SubprocessError as error:
        raise OSError(f"{sys.executable}: {error}") from error
    lines = (line.split(maxsplit=5) for line in told.stdout.decode().splitlines())
    yield from dict.fromkeys(fields[5] for fields in lines if len(fields) == 6 and fields[5].startswith("/"))
