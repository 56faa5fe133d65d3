"""Images, what scans found in them, and a scanner that there seems to be."""

from datetime import timedelta
from typing import Any

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.registry import ruling
from apps.registry.models import Image, ImageScan, Scanner
from apps.registry.scanning import report
from apps.registry.scanning.report import Finding
from apps.workloads.references import Reference
from tests.builders import make_staff, platform, staff_actor

DIGEST = "sha256:" + "c" * 64
REFERENCE = Reference("registry.lab:5000/team/torch", DIGEST)
HIGH = Finding("CVE-2025-66418", "urllib3", "2.5.0", "2.6.0", "high", "python")
LOW = Finding("CVE-2025-1", "openssl", "3.0", "", "low", "deb")


def offer(name: str = "Torch", reference: Reference = REFERENCE) -> Image:
    """A container image of the platform, for everybody."""
    with acting(platform()):
        staff = staff_actor(make_staff())
    with acting(staff):
        return ruling.create(staff, ruling.ImageSpec(name, "A torch", "火炬", reference=reference.name))


def scanned(*findings: Finding, digest: str = DIGEST, days_ago: int = 0, **more: Any) -> ImageScan:
    """A scan that found these, with a database of then."""
    counts, lines = report.packed(report.summed(findings))
    moment = db_now() - timedelta(days=days_ago)
    values = {
        "reference": REFERENCE.name, "counts": counts, "findings": lines, "scanned_at": moment, "scanner": "grype 1.2",
        "database_built_at": moment, "wanted_at": None, **more,
    }  # fmt: skip
    row, _made = ImageScan.objects.update_or_create(digest=digest, defaults=values)
    return row


def working_scanner(**more: Any) -> Scanner:
    values = {"version": "1.2", "built_at": db_now(), "schema": "v6.1.10", "problem": "", **more}
    row, _made = Scanner.objects.update_or_create(key="grype", defaults=values)
    return row
