"""Lends a pod's program the Python of the shim's image: an init container copies it to a folder that both share.

Standard library only. What is copied is what `local.oci.interpreter` mounts on a machine, with the libraries that its
extension modules are linked with, since nothing else of that image is seen in the program's container.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from apps.workloads.drivers.kubernetes.pod.places import PYTHON
from apps.workloads.drivers.local.oci.interpreter import mapped_files
from apps.workloads.drivers.local.runtime import BASE_PREFIX, BASE_PYTHON

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from apps.workloads.drivers.kubernetes.pod import lend; lend.main()"
)
LOADER, PROGRAM, LIBRARIES = f"{PYTHON}/loader", f"{PYTHON}/bin/python3", f"{PYTHON}/libraries"
COMMAND = (LOADER, "--inhibit-cache", "--library-path", LIBRARIES, PROGRAM)
"""How it is started in the program's container."""
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "site-packages", "dist-packages",
    "lib2to3", "pydoc_data", "config-*",
)  # fmt: skip
_LINKED = re.compile(r"(?:=> )?(/\S+) \(0x")


def main() -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    stdlib = Path(os.path.realpath(os.__file__)).parent
    shutil.copytree(stdlib, f"{PYTHON}/lib/{version}", ignore=LEFT_OUT, dirs_exist_ok=True)
    Path(PROGRAM).parent.mkdir(exist_ok=True)
    shutil.copy2(BASE_PYTHON, PROGRAM)
    mapped = [Path(path) for path in mapped_files() if ".so" in path]
    libraries = {path for path in mapped if not path.is_relative_to(stdlib)}
    loader = next(path for path in libraries if path.name.startswith("ld"))
    for extension in (stdlib / "lib-dynload").glob("*.so"):
        libraries |= linked(loader, extension)
    Path(LIBRARIES).mkdir(exist_ok=True)
    # Its own last: an image may have another Python's library of the same name among the system's.
    for path in sorted(libraries, key=lambda path: path.is_relative_to(BASE_PREFIX)):
        shutil.copy2(path, LIBRARIES)
    shutil.copy2(loader, LOADER)


def linked(loader: Path, library: Path) -> set[Path]:
    """What the loader would map for it; ld.so(8), `--list`."""
    told = subprocess.run([loader, "--list", library], capture_output=True, text=True, check=False)
    return {Path(path) for path in _LINKED.findall(told.stdout)}


if __name__ == "__main__":
    main()
