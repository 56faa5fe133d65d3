"""A container image with a C library and Python of its own, made of this machine's files: nothing is downloaded."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.drivers.registries import entry, layer

PROGRAM = Path("/usr/bin/python3")
"""The distribution's, which is another than the platform's where that has been built by itself."""
LEFT_OUT = frozenset({"test", "__pycache__", "lib2to3", "idlelib", "tkinter", "dist-packages", "site-packages",
                      "pydoc_data", "turtledemo", "ensurepip", "distutils"})  # fmt: skip

BESIDE = ("librt.so.1", "libpthread.so.0", "libdl.so.2", "libutil.so.1", "libstdc++.so.6", "libgcc_s.so.1")


def has_python() -> bool:
    return PROGRAM.exists() and shutil.which("ldd") is not None


def python_layer() -> bytes:
    """`/usr/bin/python3` with its standard library and shared libraries, each in its own place."""
    program = Path(os.path.realpath(PROGRAM))
    stdlib = Path(_told(str(program), "-c", "import os; print(os.path.dirname(os.__file__))"))
    entries: list[Any] = [_file(program)]
    if program.name != "python3":
        entries.append(entry("usr/bin/python3", tarfile.SYMTYPE, program.name))
    entries += [_file(path) for path in _below(stdlib)]
    return layer(*entries, *[_file(Path(path)) for path in _libraries(program, *stdlib.glob("lib-dynload/*.so"))])


def libraries_layer() -> bytes:
    """What else distributions have beside the C library, and packages with compiled parts ask for."""
    [libc] = [Path(path) for path in _libraries(PROGRAM) if Path(path).name.startswith("libc.")]
    beside = (libc.with_name(name) for name in BESIDE)
    return layer(*[_file(path) for path in beside if path.exists()])


def _below(folder: Path) -> Iterator[Path]:
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (Path(path, name) for name in files if Path(path, name).is_file())


def _libraries(*programs: Path) -> list[str]:
    """As the loader asks for them."""
    words = _told("ldd", *map(str, programs)).split()
    return sorted({word for word in words if word.startswith("/") and not word.endswith(":")} - {*map(str, programs)})


def _file(path: Path) -> tuple[str, bytes]:
    return str(path).lstrip("/"), path.read_bytes()


def _told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
