"""An environment in a container image: its own Python, where it has one, for notebooks. Uses only the standard library.

The machine's Python runs this. The image's is asked what it is; what people install with pip goes into `~/.venv`, made
of the image's Python, and so is kept, while the image's own files begin anew with each start.
"""

import json
import os
import subprocess
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

# Beside this file, wherever it is mounted.
import home as homes  # type: ignore[import-not-found]

INSIDE = Path(__file__).resolve().parent
VARIABLE = "PLSTACK_CONTAINER_IMAGE"
PROBE_S = 60
LEAST = (3, 7)
PIP_LEAST = (3, 10)
"""The oldest Python for which the tools' pip is."""
_PROBE = (
    "import sys, json, importlib.util as u; print(json.dumps({'version': sys.version_info[:2], 'site': "
    "[p for p in sys.path if p.endswith('-packages')], 'pip': u.find_spec('pip') is not None}))"
)


@dataclass
class Notebook:
    """What notebooks run on. `version`: of the image's Python, "" for none; `kernel`: whether it has what they need."""

    python: str = ""
    version: str = ""
    kernel: bool = False

    def report(self) -> dict[str, Any]:
        return {"version": self.version, "kernel": self.kernel}


def is_container(environment: Mapping[str, str]) -> bool:
    return bool(environment.get(VARIABLE))


def prepare(home: Path, environment: MutableMapping[str, str]) -> Notebook:
    """Prepare the home, point `environment` to it, and say what notebooks will run on."""
    homes.write_profiles(home)
    python, about = _of_image(environment)
    if not python:
        return Notebook()
    version = ".".join(map(str, about["version"]))
    overlay = home / ".venv"
    if _make_overlay(overlay, python, version):
        _name_pip(overlay, about, environment.get("PLSTACK_TOOL_JUPYTERLAB"))
        environment["PATH"] = f"{overlay}/bin:{environment.get('PATH', os.defpath)}"
        environment["VIRTUAL_ENV"] = str(overlay)
        environment["PYTHONNOUSERSITE"] = "1"
        python = f"{overlay}/bin/python"
    return Notebook(python, version, _output([python, f"{INSIDE}/kernel.py", "--check"]) is not None)


def machine_python(environment: Mapping[str, str]) -> list[str]:
    """The command of the Python that is there in every image."""
    return [*environment["PLSTACK_MACHINE_PYTHON"].split(), "-E", "-s", "-S"]


def module(environment: Mapping[str, str], tool: Path, name: str) -> list[str]:
    """The command that runs a module of a tool."""
    if is_container(environment):
        return [*machine_python(environment), f"{INSIDE}/tool.py", str(tool), name]
    return [str(tool / "bin" / "python"), "-m", name]


def _of_image(environment: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Path of the image's Python, and what it says of itself; "" where there is none that notebooks could use."""
    for name in ("python3", "python"):
        path = which(name, path=environment.get("PATH"))
        told = _output([path, "-I", "-c", _PROBE]) if path else None
        if path and told is not None:
            about: dict[str, Any] = json.loads(told)
            if tuple(about["version"]) >= LEAST:
                return path, about
    return "", {}


def _make_overlay(overlay: Path, python: str, version: str) -> bool:
    """Whether there is one: distributions may leave out the module that makes it."""
    made_for = f"{version}-image"
    homes.choose_overlay(overlay, made_for)
    own = overlay / "bin" / "python"
    if _output([str(own), "-I", "-c", ""]) is None:
        options = ["--without-pip", "--system-site-packages", "--symlinks"]
        if _output([python, "-I", "-m", "venv", *options, str(overlay)]) is None:
            print("The image's Python makes no virtual environment: what is installed is not kept.", flush=True)  # noqa: T201
            return False
        (overlay / homes.MADE_FOR).write_text(made_for)
    return True


def _name_pip(overlay: Path, about: Mapping[str, Any], tool: str | None) -> None:
    """`pip` of the overlay: the image's, else the tools' own where it is for this Python."""
    version = tuple(about["version"])
    if not about["pip"] and (tool is None or version < PIP_LEAST):
        return
    target = overlay / "lib" / f"python{version[0]}.{version[1]}" / "site-packages"
    if not about["pip"] and tool is not None and not (target / "pip").is_dir():
        homes.copy_pip(Path(tool), target)
    homes.write_pip_commands(overlay)


def _output(command: list[str]) -> str | None:
    """What it prints; None where it cannot be started, fails, or does not end."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")
