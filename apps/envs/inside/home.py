"""The home folder of an environment, made ready before anything starts. Standard library alone.

What people install goes into `~/.venv`, a virtual environment of the image's Python that sees the image's packages
after its own: it survives restarts, and a newer version hides the image's without touching it.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import MutableMapping
from pathlib import Path

INSIDE = Path(__file__).resolve().parent
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
    """Makes the home ready and aims `environment` at it; the home's path."""
    image_python, image_site = sys.executable, _site_of(Path(sys.prefix))
    overlay = home / ".venv"
    _make_overlay(overlay, image_python, image_site)
    _copy_pip(overlay, environment.get("PLSTACK_TOOL_JUPYTERLAB"))
    for name, text in ((".bashrc", BASHRC), (".bash_profile", BASH_PROFILE)):
        _write_once(home / name, text)
    environment["PATH"] = f"{overlay}/bin:{environment.get('PATH', os.defpath)}"
    environment["VIRTUAL_ENV"] = str(overlay)
    environment["PYTHONNOUSERSITE"] = "1"
    return home


def _site_of(prefix: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return prefix / "lib" / version / "site-packages"


def _make_overlay(overlay: Path, image_python: str, image_site: Path) -> None:
    """A new one where there is none, or where the image's Python is another version than it was made for."""
    made_for = overlay / ".python-version"
    version = sysconfig.get_python_version()
    if made_for.is_file() and made_for.read_text().strip() != version:
        overlay.rename(overlay.with_name(f".venv-{made_for.read_text().strip()}"))
    python = overlay / "bin" / "python"
    base = os.path.realpath(image_python)
    if not python.exists() or os.path.realpath(python) != base:
        command = [base, "-I", "-m", "venv", "--without-pip", "--symlinks", str(overlay)]
        subprocess.run(command, check=True)
        made_for.write_text(version)
    # Behind its own packages, so that what people install comes first.
    (_site_of(overlay) / "_image.pth").write_text(f"{image_site}\n")


def _copy_pip(overlay: Path, tool: str | None) -> None:
    """The installer of the tools' runtime: images come without one."""
    target = _site_of(overlay)
    if tool is None or (target / "pip").is_dir():
        return
    for source in (*_site_of(Path(tool)).glob("pip"), *_site_of(Path(tool)).glob("pip-*.dist-info")):
        shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for name in ("pip", "pip3"):
        command = overlay / "bin" / name
        # `--user` means what it means everywhere: into this home. The overlay is that already.
        command.write_text(f'#!/bin/sh\nexec "{overlay}/bin/python" "{INSIDE}/pip_main.py" "$@"\n')
        command.chmod(0o755)


def _write_once(path: Path, text: str) -> None:
    if not path.exists() and not path.is_symlink():
        path.write_text(text)
