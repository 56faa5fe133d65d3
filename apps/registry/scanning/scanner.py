"""The installed Grype and its vulnerability database: which there is, how old it is, and bringing a newer one.

Where the worker runs, and only there: pages read what it wrote down (`Scanner`).
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from apps.registry.scanning.choices import ScannerProblem
from apps.registry.scanning.confinement import variables
from apps.registry.scanning.models import MAX_DETAIL, Scanner
from apps.workloads.drivers.software_sources import bundle
from apps.workloads.software_sources import chosen

ASKING_S = 60
IMPORTING_S = 3600
FOLDER = "scanner"


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is on this machine. `program`: None without one. `built_at`: None without a database."""

    program: Path | None = None
    version: str = ""
    built_at: datetime | None = None
    schema: str = ""
    problem: ScannerProblem = ScannerProblem.NONE
    detail: str = ""


class ScannerError(Exception):
    """What Grype said when it refused."""


def program() -> Path | None:
    """The executable: that of PLSTACK_SCANNER, else the one on PATH."""
    found = shutil.which(settings.SCANNER or "grype")
    return Path(found).resolve() if found else None


def database() -> Path:
    return Path(settings.SCANNER_DATABASE or Path(settings.PLSTACK_HOME) / FOLDER / "database")


def look() -> Seen:
    """Asks the program itself, which takes a second or two."""
    found = program()
    if found is None:
        return Seen(problem=ScannerProblem.NO_SCANNER)
    try:
        version = _text(_asked(found, ["version", "-o", "json"]), "version")
    except ScannerError as error:
        return Seen(found, problem=ScannerProblem.BROKEN, detail=str(error)[:MAX_DETAIL])
    try:
        status = _asked(found, ["db", "status", "-o", "json"])
        built_at = datetime.fromisoformat(_text(status, "built"))
    except (ScannerError, ValueError) as error:
        return Seen(found, version, problem=ScannerProblem.NO_DATABASE, detail=str(error)[:MAX_DETAIL])
    if not built_at.tzinfo:
        return Seen(found, version, problem=ScannerProblem.NO_DATABASE, detail="its date has no time zone")
    return Seen(found, version, built_at, _text(status, "schemaVersion")[:20])


def note(seen: Seen) -> None:
    """For the pages, which may be served from another machine."""
    values = {
        "version": seen.version[:40], "built_at": seen.built_at, "schema": seen.schema, "problem": seen.problem,
        "problem_detail": seen.detail, "seen_at": Now(),
    }  # fmt: skip
    Scanner.objects.update_or_create(key="grype", defaults=values)


def mark() -> tuple[object, ...]:
    """Changes when another program or database takes the place of this one; cheap to ask."""
    found = program()
    return (found, _stamp(found), *(_stamp(path) for path in sorted(database().glob("*/import.json"))))


def import_database(source: str) -> None:
    """Take the archive at this path or address for the database. Raises ScannerError."""
    _change(["db", "import", source], fetches="://" in source)


def update_database(mirror: str) -> None:
    """Bring the newest database from a mirror: the address of its `latest.json`. Raises ScannerError."""
    _change(["db", "update"], {"GRYPE_DB_UPDATE_URL": mirror}, fetches=True)


def _change(words: Sequence[str], more: Mapping[str, str] | None = None, *, fetches: bool) -> None:
    found = program()
    if found is None:
        raise ScannerError(str(ScannerProblem.NO_SCANNER.label))
    database().mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plstack-scanner-") as folder:
        sources = _sources() if fetches else {}
        _run(found, words, {**sources, **(more or {}), "TMPDIR": folder}, IMPORTING_S)
    readable(database())


def readable(folder: Path) -> None:
    """For the account that scans, which owns nothing. Grype keeps its files for their owner alone."""
    for root, folders, files in os.walk(folder):
        with suppress(OSError):
            for name in folders:
                Path(root, name).chmod(0o755)
            for name in files:
                Path(root, name).chmod(0o644)


def _sources() -> dict[str, str]:
    """The way out and the authorities that the settings name for software."""
    found, told = chosen(), dict[str, str]()
    if found.proxy:
        told |= {"HTTP_PROXY": found.proxy, "HTTPS_PROXY": found.proxy, "NO_PROXY": found.no_proxy}
    if authorities := bundle(found, Path(settings.PLSTACK_HOME)):
        told["GRYPE_DB_CA_CERT"] = authorities
    return told


def _asked(found: Path, words: Sequence[str]) -> Mapping[str, Any]:
    answer = _run(found, words, {}, ASKING_S)
    try:
        about: Any = json.loads(answer)
    except ValueError as error:
        raise ScannerError(answer[:MAX_DETAIL] or "it says nothing") from error
    return about if isinstance(about, dict) else {}


def _text(about: Mapping[str, Any], name: str) -> str:
    return str(about.get(name) or "")


def _run(found: Path, words: Sequence[str], more: Mapping[str, str], seconds: int) -> str:
    env = {**os.environ, **variables(str(database())), **more}
    try:
        done = subprocess.run(
            [str(found), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=seconds, check=False, env=env,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ScannerError(f"{type(error).__name__}: {error}"[:MAX_DETAIL]) from error
    if done.returncode != 0:
        with suppress(ValueError, AttributeError):
            if told := json.loads(done.stdout).get("error"):
                raise ScannerError(_plain(str(told)))
        lines = [line.strip() for line in f"{done.stderr}\n{done.stdout}".splitlines() if line.strip()]
        raise ScannerError(_plain(" ".join(lines[-3:])) or f"it ended with {done.returncode}")
    return done.stdout


def _plain(text: str) -> str:
    """Without the codes that colour it on a terminal."""
    return "".join(sign for sign in re.sub(r"\x1b\[[0-9;]*m", "", text) if sign.isprintable())[:MAX_DETAIL]


def _stamp(path: Path | None) -> tuple[int, int] | None:
    try:
        seen = path.stat() if path else None
    except OSError:
        return None
    return (seen.st_mtime_ns, seen.st_size) if seen else None
