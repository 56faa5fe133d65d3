"""The worker's loop: what is scanned when, by whom, and what stays of it; a scanner that seems to be there."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.registry.models import Image, ImageScan, Scanner
from apps.registry.scanning import confinement, scanner, wanting, working
from apps.registry.scanning.choices import ScannerProblem, ScanProblem
from apps.registry.scanning.confinement import Scanning
from apps.registry.scanning.layout import ScanFailed
from apps.registry.scanning.scanner import Seen
from apps.registry.scanning.settings import ScanSettings
from apps.tenants import settings as platform_settings
from apps.workloads.drivers.local.oci import registry
from apps.workloads.references import Reference
from tests.builders import World, platform
from tests.drivers.registries import INDEX, MANIFEST, Registry, layer, plain_registry
from tests.registry.scanning.test_report import RECORDED, RECORDED_AT, URLLIB, WHEEL


class FakeScanner:
    """`asked`: the targets, and which blobs lay there. `failure`: what it raises instead of answering."""

    def __init__(self) -> None:
        self.seen = Seen(Path("/usr/bin/grype"), "0.121.3", None, "v6.1.10")
        self.asked: list[tuple[str, set[str]]] = []
        self.failure: Exception | None = None
        self.marks = 0

    def scan(self, asked: Scanning, cancelled: Event) -> tuple[bytes, bytes]:
        self.asked.append((asked.target, {path.name for path in asked.folder.rglob("*") if path.is_file()}))
        if self.failure is not None:
            raise self.failure
        built = (self.seen.built_at or RECORDED_AT).isoformat()
        answer = RECORDED.read_text().replace(RECORDED_AT.strftime("%Y-%m-%dT%H:%M:%SZ"), built)
        return answer.encode(), b'{"bomFormat": "CycloneDX"}'


@pytest.fixture
def fake(world: World, tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> FakeScanner:
    found = FakeScanner()
    found.seen = Seen(Path("/usr/bin/grype"), "0.121.3", db_now() - timedelta(days=1), "v6.1.10")
    settings.PLSTACK_HOME = str(tmp_path)
    monkeypatch.setattr(confinement, "scan", found.scan)
    monkeypatch.setattr(scanner, "look", lambda: found.seen)
    monkeypatch.setattr(scanner, "program", lambda: found.seen.program)
    monkeypatch.setattr(scanner, "mark", lambda: (found.marks,))
    monkeypatch.setattr(working, "_last_look", [])
    return found


@pytest.fixture
def server(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(registry, "PAUSE_S", 0.0)
    with plain_registry() as found:
        settings.IMAGE_PULL_RULES = found.rules
        yield found


def offered(reference: Reference) -> ImageScan:
    Image.objects.create(key=f"c-{reference.digest[-8:]}", name="torch", reference=reference.name)
    with acting(platform()):
        wanting.note_missing()
    return ImageScan.objects.get(digest=reference.digest)


def turn() -> bool:
    with acting(platform()):
        return working.advance()


def test_what_was_put_on_offer_is_scanned_once(fake: FakeScanner, server: Registry) -> None:
    reference = server.image(layer(("a", b"1")), layer(("b", b"2")))
    Image.objects.create(key="c", name="torch", reference=reference.name)
    assert turn()
    row = ImageScan.objects.get(digest=reference.digest)
    assert (row.wanted_at, row.claimed_until, row.problem) == (None, None, "")
    assert [line[0] for line in row.findings] == [URLLIB.id, WHEEL.id]
    assert row.counts["high"] == [1, 1]
    assert row.scanner == "grype 0.121.3"
    ((target, files),) = fake.asked
    assert target == "oci-dir:/scan/target"
    assert {"oci-layout", "index.json", reference.digest.removeprefix("sha256:")} < files
    assert len(files) == 6  # the manifest, the configuration and two layers beside these two
    assert not turn()


def test_an_index_is_scanned_image_by_image(fake: FakeScanner, server: Registry) -> None:
    images = [server.image(layer((name, b"")), architecture=name) for name in ("arm64", "amd64")]
    entries = [
        {"digest": each.digest, "size": 1, "mediaType": MANIFEST, "platform": {"os": system, "architecture": name}}
        for each, system, name in ((images[0], "linux", "arm64"), (images[1], "linux", "amd64"),
                                   (images[1], "unknown", "unknown"))
    ]  # fmt: skip
    row = offered(server.document({"manifests": entries}, INDEX))
    assert turn()
    assert len(fake.asked) == 2
    row.refresh_from_db()
    assert len(row.findings) == 2  # the same in both: counted once


def test_a_newer_database_is_asked_about_the_packages_that_are_known(fake: FakeScanner, server: Registry) -> None:
    row = offered(server.image(layer(("a", b"1"))))
    turn()
    fake.seen, fake.marks = Seen(fake.seen.program, fake.seen.version, db_now() + timedelta(days=2), "v6.1.10"), 1
    assert turn()
    assert [target for target, _files in fake.asked] == ["oci-dir:/scan/target", "sbom:/scan/target/sbom.json"]
    assert fake.asked[1][1] == {"sbom.json"}
    row.refresh_from_db()
    assert row.wanted_at is None


def test_a_newer_scanner_reads_the_image_again(fake: FakeScanner, server: Registry) -> None:
    row = offered(server.image(layer(("a", b"1"))))
    turn()
    ImageScan.objects.filter(pk=row.pk).update(scanner="grype 0.1.0", wanted_at=db_now())
    turn()
    assert fake.asked[1][0] == "oci-dir:/scan/target"


def test_what_nobody_uses_any_more_is_not_scanned_again(fake: FakeScanner, server: Registry) -> None:
    offered(server.image(layer(("a", b"1"))))
    turn()
    Image.objects.update(active=False)
    fake.seen, fake.marks = Seen(fake.seen.program, "0.121.3", db_now() + timedelta(days=2), ""), 1
    assert not turn()


def test_a_failure_says_why_keeps_what_was_found_and_is_tried_again_later(fake: FakeScanner, server: Registry) -> None:
    row = offered(server.image(layer(("a", b"1"))))
    turn()
    ImageScan.objects.filter(pk=row.pk).update(wanted_at=db_now())
    fake.failure = ScanFailed(ScanProblem.TIMED_OUT, "it slept")
    for number in range(1, working.MOST_TRIES + 1):
        ImageScan.objects.filter(pk=row.pk).update(not_before=None)
        assert turn()
        row.refresh_from_db()
        assert (row.problem, row.problem_detail, len(row.findings)) == ("timed_out", "it slept", 2)
        assert row.tries == number % working.MOST_TRIES
        if number < working.MOST_TRIES:
            assert not turn()  # not before its time
    assert row.wanted_at is None  # given up until somebody asks


def test_an_image_that_is_not_there_is_said_to_be_away(fake: FakeScanner, server: Registry) -> None:
    row = offered(Reference(f"{server.host}/team/box", f"sha256:{'0' * 64}"))
    assert turn()
    row.refresh_from_db()
    assert (row.problem, row.scanned_at, fake.asked) == ("image_away", None, [])


def test_what_is_no_image_is_not_scanned(fake: FakeScanner, server: Registry) -> None:
    config = {**server.blob(b"{}"), "mediaType": "application/vnd.cncf.helm.config.v1+json"}
    row = offered(server.document({"config": config, "layers": []}, MANIFEST))
    turn()
    row.refresh_from_db()
    assert row.problem == "not_an_image"


def test_an_image_beyond_the_limit_is_not_fetched(fake: FakeScanner, server: Registry, settings: LazySettings) -> None:
    row = offered(server.image(*[layer((str(number), b"")) for number in range(3)]))
    settings.IMAGE_PULL_RULES = replace(server.rules, most_layers=2)
    turn()
    row.refresh_from_db()
    assert row.problem == "too_large"


def test_a_scan_whose_process_died_is_taken_up_again(fake: FakeScanner, server: Registry) -> None:
    row = offered(server.image(layer(("a", b"1"))))
    ImageScan.objects.filter(pk=row.pk).update(claimed_until=db_now() + timedelta(minutes=5))
    assert not turn()
    ImageScan.objects.filter(pk=row.pk).update(claimed_until=db_now() - timedelta(seconds=1))
    assert turn()


def test_one_image_is_scanned_at_a_time(fake: FakeScanner, server: Registry) -> None:
    first, second = offered(server.image(layer(("a", b"1")))), offered(server.image(layer(("b", b"2"))))
    ImageScan.objects.filter(pk=first.pk).update(claimed_until=db_now() + timedelta(minutes=5))
    assert not turn()
    ImageScan.objects.filter(pk=first.pk).update(claimed_until=None)
    assert turn()
    assert turn()
    second.refresh_from_db()
    assert second.scanned_at is not None


def test_what_was_given_up_is_tried_with_the_next_database(fake: FakeScanner, server: Registry) -> None:
    row = offered(server.image(layer(("a", b"1"))))
    ImageScan.objects.filter(pk=row.pk).update(wanted_at=None, failed_at=db_now(), problem="image_away")
    assert not turn()
    fake.seen, fake.marks = Seen(fake.seen.program, "0.121.3", db_now() + timedelta(days=1), ""), 1
    assert turn()
    row.refresh_from_db()
    assert (row.problem, row.scanned_at is not None) == ("", True)


def test_without_a_scanner_nothing_is_scanned_and_the_page_can_say_so(fake: FakeScanner, server: Registry) -> None:
    fake.seen = Seen(problem=ScannerProblem.NO_SCANNER)
    offered(server.image(layer(("a", b"1"))))
    assert not turn()
    assert not turn()
    assert Scanner.objects.get().problem == "no_scanner"
    fake.seen, fake.marks = Seen(Path("/usr/bin/grype"), "0.121.3", db_now(), "v6"), 1
    assert turn()
    assert Scanner.objects.get().problem == ""


def test_lists_of_packages_are_kept_packed(fake: FakeScanner, server: Registry, tmp_path: Path) -> None:
    row = offered(server.image(layer(("a", b"1"))))
    turn()
    (kept,) = (tmp_path / "scanner" / "packages" / row.digest.removeprefix("sha256:")).iterdir()
    assert json.loads(gzip.decompress(kept.read_bytes())) == {"bomFormat": "CycloneDX"}
    assert not list((tmp_path / "scanner" / "scratch").iterdir())


def test_the_mirror_is_asked_twice_a_day(fake: FakeScanner, staff: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def update(mirror: str) -> None:
        asked.append(mirror)
        raise scanner.ScannerError("no route")

    monkeypatch.setattr(scanner, "update_database", update)
    with acting(platform()):
        working.update_database()
    assert asked == []
    with acting(staff):
        platform_settings.put(staff, ScanSettings(mirror="https://mirror.example.edu/latest.json"))
    with acting(platform()):
        working.update_database()
        working.update_database()
    assert asked == ["https://mirror.example.edu/latest.json"]
    assert Scanner.objects.get().update_problem == "no route"
