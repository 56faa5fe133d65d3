"""What Grype answers (`grype -o json`), and how it is kept: counts by severity and a line for each finding. No Django.

Its document: `matches[].vulnerability{id, severity, fix{versions, state}}`, `matches[].artifact{name, version, type}`,
`descriptor{name, version, db}`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

SEVERITIES = ("critical", "high", "medium", "low", "negligible", "unknown")
MOST_FINDINGS = 10_000
"""So many are kept one by one, the worst first; all are counted."""
LONGEST = {"id": 80, "package": 200, "version": 100, "fixed": 100, "kind": 30}


class Unreadable(ValueError):
    """Not what Grype writes."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`fixed`: the versions of the package without it, "" where there is none. `kind`: deb, python, go-module …"""

    id: str
    package: str
    version: str
    fixed: str
    severity: str
    kind: str

    @property
    def has_fix(self) -> bool:
        return bool(self.fixed)


@dataclass(frozen=True, slots=True)
class Report:
    """`counts`: (all, those with a fix) for each severity, also of what is not among `findings`."""

    counts: Mapping[str, tuple[int, int]]
    findings: tuple[Finding, ...] = ()

    def count(self, severity: str) -> int:
        return self.counts.get(severity, (0, 0))[0]

    @property
    def total(self) -> int:
        return sum(count for count, _fixable in self.counts.values())

    @property
    def unfixed(self) -> int:
        return sum(count - fixable for count, fixable in self.counts.values())

    @property
    def unlisted(self) -> int:
        return self.total - len(self.findings)


@dataclass(frozen=True, slots=True)
class Answer:
    """One run of the scanner. `scanner`: its name and version; `built_at`: of its database, where it says so."""

    findings: frozenset[Finding]
    scanner: str
    built_at: datetime | None


def read(document: bytes) -> Answer:
    """Raises Unreadable."""
    try:
        about = json.loads(document)
        matches, descriptor = about["matches"], about["descriptor"]
        found = frozenset(_finding(match) for match in matches)
        scanner = f"{_text(descriptor['name'], 20)} {_text(descriptor['version'], 38)}"
        return Answer(found, scanner, _moment(_database(descriptor.get("db"))))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}"[:200]) from error


def summed(findings: Iterable[Finding]) -> Report:
    """Each finding once, the worst first."""
    ordered = sorted(set(findings), key=lambda each: (SEVERITIES.index(each.severity), each.id, each))
    counts = dict.fromkeys(SEVERITIES, (0, 0))
    for each in ordered:
        count, fixable = counts[each.severity]
        counts[each.severity] = (count + 1, fixable + each.has_fix)
    return Report(counts, tuple(ordered[:MOST_FINDINGS]))


def packed(report: Report) -> tuple[dict[str, list[int]], list[list[str]]]:
    """As a row keeps it."""
    counts = {name: list(pair) for name, pair in report.counts.items()}
    lines = [[each.id, each.package, each.version, each.fixed, each.severity, each.kind] for each in report.findings]
    return counts, lines


def unpacked(counts: Mapping[str, Sequence[int]], lines: Iterable[Sequence[str]] = ()) -> Report:
    return Report({name: (pair[0], pair[1]) for name, pair in counts.items()}, tuple(Finding(*line) for line in lines))


def _finding(match: Mapping[str, Any]) -> Finding:
    vulnerability, package = match["vulnerability"], match["artifact"]
    severity = str(vulnerability.get("severity") or "").lower()
    fix = vulnerability.get("fix") or {}
    versions = fix.get("versions") or []
    return Finding(
        id=_text(vulnerability["id"], LONGEST["id"]),
        package=_text(package["name"], LONGEST["package"]),
        version=_text(package.get("version") or "", LONGEST["version"]),
        fixed=_text(", ".join(map(str, versions)), LONGEST["fixed"]),
        severity=severity if severity in SEVERITIES else "unknown",
        kind=_text(package.get("type") or "", LONGEST["kind"]),
    )


def _text(value: object, most: int) -> str:
    """Of a package's files, so by whoever made the image: no control characters, no endless names."""
    return "".join(sign for sign in str(value) if sign.isprintable())[:most]


def _database(about: object) -> object:
    """Newer versions nest the database's status."""
    if not isinstance(about, dict):
        return None
    status = about.get("status")
    return status.get("built") if isinstance(status, dict) else about.get("built")


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else None
