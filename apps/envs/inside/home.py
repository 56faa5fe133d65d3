"""Prepare the home folder of an environment before anything starts. Uses only the standard library.

People's packages are installed into `~/.venv`, a virtual environment of the image's Python that sees the image's
packages after its own: it survives restarts, and a newer version shadows the image's without changing it.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import MutableMapping
from pathlib import Path

INSIDE = Path(__file__).resolve().parent
MADE_FOR = ".python-version"
PROFILE = f"""
[ -r {INSIDE}/profile.sh ] && . {INSIDE}/profile.sh
"""
BASHRC = f"""# Yours to change.{PROFILE}
case $- in *i*) ;; *) return ;; esac
PS1='\\[\\e[1m\\]\\w\\[\\e[0m\\] \\$ '
alias ll='ls -alF'
"""
BASH_PROFILE = """[ -r ~/.bashrc ] && . ~/.bashrc
"""


def prepare(home: Path, environment: MutableMapping[str, str]) -> Path:
    """Prepare the home, point `environment` to it, and return its path."""
    image_python, image_site = sys.executable, _site_of(Path(sys.prefix))
    overlay = home / ".venv"
    _make_overlay(overlay, image_python, image_site)
    _name_pip(overlay, environment.get("PLSTACK_TOOL_JUPYTERLAB"))
    write_profiles(home)
    environment["PATH"] = f"{overlay}/bin:{environment.get('PATH', os.defpath)}"
    environment["VIRTUAL_ENV"] = str(overlay)
    environment["PYTHONNOUSERSITE"] = "1"
    return home


def _site_of(prefix: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return prefix / "lib" / version / "site-packages"


def _make_overlay(overlay: Path, image_python: str, image_site: Path) -> None:
    """Create the overlay if it is missing or was made for another version of the image's Python."""
    version = sysconfig.get_python_version()
    choose_overlay(overlay, version)
    python = overlay / "bin" / "python"
    base = os.path.realpath(image_python)
    if not python.exists() or os.path.realpath(python) != base:
        command = [base, "-I", "-m", "venv", "--without-pip", "--symlinks", str(overlay)]
        subprocess.run(command, check=True)
        (overlay / MADE_FOR).write_text(version)
    # Behind its own packages, so that what people install comes first.
    (_site_of(overlay) / "_image.pth").write_text(f"{image_site}\n")


def choose_overlay(overlay: Path, made_for: str) -> None:
    """Set the overlay of another Python aside, and take back the one that was made for this one before."""
    kept = overlay.with_name(f"{overlay.name}-{made_for}")
    marker = overlay / MADE_FOR
    if marker.is_file() and (other := marker.read_text().strip()) != made_for:
        aside = overlay.with_name(f"{overlay.name}-{other}")
        if aside.exists():  # what was set aside before it stays under a name of its own
            aside.rename(aside.with_name(f"{aside.name}-{os.stat(aside).st_ino}"))
        overlay.rename(aside)
    if kept.is_dir() and not overlay.exists():
        kept.rename(overlay)


def _name_pip(overlay: Path, tool: str | None) -> None:
    """Copy pip from the tools' runtime; images come without it."""
    target = _site_of(overlay)
    if tool is None or (target / "pip").is_dir():
        return
    copy_pip(Path(tool), target)
    write_pip_commands(overlay)


def copy_pip(tool: Path, target: Path) -> None:
    for source in (*_site_of(tool).glob("pip"), *_site_of(tool).glob("pip-*.dist-info")):
        shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)


def write_pip_commands(overlay: Path) -> None:
    for name in ("pip", "pip3"):
        command = overlay / "bin" / name
        # `--user` means into this home, as everywhere; the overlay is in the home already.
        command.write_text(f'#!/bin/sh\nexec "{overlay}/bin/python" "{INSIDE}/pip_main.py" "$@"\n')
        command.chmod(0o755)


def write_profiles(home: Path) -> None:
    for name, text in ((".bashrc", BASHRC), (".bash_profile", BASH_PROFILE)):
        _write_once(home / name, text)


def _write_once(path: Path, text: str) -> None:
    if not path.exists() and not path.is_symlink():
        path.write_text(text)
