"""The real Grype in our sandbox, on images that our own client laid out, with a database that the test makes.

Needs the executable, on PATH or named by PLSTACK_SCANNER (docs/scanning.md says how to build it).
"""

import io
import os
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from apps.common.scoping import acting
from apps.registry.models import Image, ImageScan, Scanner
from apps.registry.scanning import confinement, scanner, working
from apps.registry.scanning.choices import ScannerProblem, ScanProblem
from apps.registry.scanning.confinement import TARGET, Limits, Scanning
from apps.registry.scanning.layout import ScanFailed
from tests.builders import World, platform
from tests.drivers.registries import Registry, layer, plain_registry
from tests.registry.scanning import vulnerability_database as database
from tests.registry.scanning.vulnerability_database import OLD_URLLIB, OLD_WHEEL

PROGRAM = shutil.which(os.environ.get("PLSTACK_SCANNER") or "grype")
pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(PROGRAM is None, reason="no Grype: put it on PATH or name it in PLSTACK_SCANNER"),
]
SITE = "usr/lib/python3/dist-packages"
LIMITS = Limits(seconds=120, memory_mib=4096, size_mib=1024)
MADE = datetime(2026, 11, 20, 4, 0, tzinfo=UTC)


def package(name: str, version: str) -> tuple[str, bytes]:
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return f"{SITE}/{name}-{version}.dist-info/METADATA", text.encode()


@pytest.fixture
def home(world: World, tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.PLSTACK_HOME, settings.SCANNER = str(tmp_path), str(PROGRAM)
    monkeypatch.setattr(working, "_last_look", [])
    return tmp_path


@pytest.fixture
def known(home: Path) -> Path:
    bring(home, database.make(home / "made.db", [OLD_URLLIB], MADE))
    return home


@pytest.fixture
def server(settings: LazySettings) -> Iterator[Registry]:
    with plain_registry() as found:
        settings.IMAGE_PULL_RULES = found.rules
        yield found


def bring(home: Path, file: Path) -> None:
    call_command("scanner_database", "import", str(file), stdout=io.StringIO())


def turn() -> bool:
    with acting(platform()):
        return working.advance()


def test_an_image_is_scanned_and_again_when_the_database_is_newer(known: Path, server: Registry) -> None:
    lower = layer(package("urllib3", "2.5.0"), package("wheel", "0.4"), ("bin/sh", b"#!"), compress=bytes)
    reference = server.image(lower, layer(("etc/motd", b"hello"), compress=bytes))
    Image.objects.create(key="c", name="torch", reference=reference.name)
    assert turn()
    row = ImageScan.objects.get()
    assert (row.problem, row.problem_detail) == ("", "")
    assert row.findings == [[OLD_URLLIB.id, "urllib3", "2.5.0", "2.6.0", "high", "python"]]
    assert row.scanner.startswith("grype ")
    assert row.database_built_at == MADE
    assert not turn()

    bring(known, database.make(known / "newer.db", [OLD_URLLIB, OLD_WHEEL], MADE + timedelta(days=1)))
    server.asked.clear()
    assert turn()
    row.refresh_from_db()
    assert [line[0] for line in row.findings] == [OLD_URLLIB.id, OLD_WHEEL.id]
    assert row.counts["medium"] == [1, 0]
    assert row.database_built_at == MADE + timedelta(days=1)
    assert server.asked == []  # by the list of its packages: nothing is fetched again


def test_what_a_later_layer_mends_is_not_found(known: Path, server: Registry) -> None:
    removed = (f"{SITE}/.wh.urllib3-2.5.0.dist-info", b"")
    lower = layer(package("urllib3", "2.5.0"), compress=bytes)
    reference = server.image(lower, layer(removed, package("urllib3", "2.6.0"), compress=bytes))
    Image.objects.create(key="c", name="torch", reference=reference.name)
    assert turn()
    row = ImageScan.objects.get()
    assert (row.problem, row.findings) == ("", [])
    assert row.scanned_at is not None


def test_layers_that_are_none_end_the_scan_with_its_words(known: Path, server: Registry) -> None:
    Image.objects.create(key="c", name="torch", reference=server.image(b"no archive").name)
    assert turn()
    row = ImageScan.objects.get()
    assert (row.problem, row.scanned_at) == ("scanner_failed", None)
    assert row.problem_detail


def test_what_is_missing_is_said(home: Path) -> None:
    seen = scanner.look()
    assert seen.problem is ScannerProblem.NO_DATABASE
    assert "does not exist" in seen.detail
    assert not turn()
    assert Scanner.objects.get().problem == "no_database"
    with pytest.raises(CommandError):
        call_command("scanner_database", "import", str(home / "nowhere.db"))
    with pytest.raises(CommandError):
        call_command("scanner_database", "status")


def scan(home: Path, limits: Limits = LIMITS, program: Path | None = None) -> bytes:
    target, scratch = home / "target", home / "scratch"
    target.mkdir(mode=0o755)
    scratch.mkdir()
    found = scanner.program()
    assert found is not None
    asked = Scanning(program or found, scanner.database(), target, f"dir:{TARGET}", scratch, limits)
    return confinement.scan(asked, threading.Event())[0]


def test_it_has_little_time(known: Path) -> None:
    with pytest.raises(ScanFailed) as failed:
        scan(known, Limits(seconds=0, memory_mib=4096, size_mib=1024))
    assert failed.value.problem is ScanProblem.TIMED_OUT


def test_it_has_little_memory(known: Path) -> None:
    with pytest.raises(ScanFailed) as failed:
        scan(known, Limits(seconds=60, memory_mib=16, size_mib=1024))
    assert failed.value.problem is ScanProblem.SCANNER_FAILED


SPY = """#!/bin/sh
{ id -u; cat /proc/net/dev | grep -c :; touch /scan/database/x 2>&1; touch /scan/target/x 2>&1
grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; } > /tmp/report.json
"""


def test_it_is_nobody_without_network_or_rights(known: Path) -> None:
    spy = known / "spy"
    spy.write_text(SPY)
    spy.chmod(0o755)
    lines = scan(known, program=spy).decode().splitlines()
    assert lines[0] == (str(confinement.NOBODY) if os.geteuid() == 0 else str(os.geteuid()))
    assert lines[1] == "1"  # lo
    assert sum("Read-only file system" in line for line in lines) == 2
    assert "CapEff:\t0000000000000000" in lines
    assert "CapBnd:\t0000000000000000" in lines


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exit 3", ScanProblem.SCANNER_FAILED),
        ("ln -s /etc/passwd /tmp/report.json", ScanProblem.SCANNER_FAILED),
        ("mkdir /tmp/report.json", ScanProblem.SCANNER_FAILED),
        ("mkfifo /tmp/report.json", ScanProblem.SCANNER_FAILED),
        ("yes | head -c 2000 > /tmp/report.json", ScanProblem.TOO_MUCH_OUTPUT),
    ],
)
def test_what_comes_out_is_never_trusted(
    known: Path, monkeypatch: pytest.MonkeyPatch, script: str, problem: ScanProblem
) -> None:
    monkeypatch.setattr(confinement, "MOST_OUTPUT", 1000)
    hostile = known / "hostile"
    hostile.write_text(f"#!/bin/sh\n{script}\n")
    hostile.chmod(0o755)
    with pytest.raises(ScanFailed) as failed:
        scan(known, program=hostile)
    assert failed.value.problem is problem
