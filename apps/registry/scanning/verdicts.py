"""What is known of images, and whether an organisation may start in them: read at once for all that a page shows."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.clock import db_now
from apps.registry.models import Image
from apps.registry.scanning import report
from apps.registry.scanning.choices import ScannerProblem, ScanProblem, Severity
from apps.registry.scanning.models import ImageScan, ScanException, Scanner, ScanPolicy
from apps.registry.scanning.policy import Cause, Exempt, Rule, Verdict, judge, stricter
from apps.registry.scanning.report import Finding, Report
from apps.registry.scanning.settings import ScanSettings
from apps.tenants import settings

SEVERE = (Severity.CRITICAL, Severity.HIGH)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a scan said of one digest. `report`: None while no scan has succeeded; its findings only where asked for."""

    digest: str
    report: Report | None = None
    scanned_at: datetime | None = None
    built_at: datetime | None = None
    scanner: str = ""
    wanted: bool = False
    problem: str = ""
    problem_detail: str = ""
    failed_at: datetime | None = None
    stale: bool = False
    no_scanner: bool = False

    @property
    def chips(self) -> list[tuple[str, str, int]]:
        """(severity, in words, how many) of those that there are, the worst first."""
        if self.report is None:
            return []
        counted = ((each, self.report.count(each.value)) for each in Severity)
        return [(each.value, str(each.label), count) for each, count in counted if count]

    @property
    def severe(self) -> list[tuple[str, str, int]]:
        return [chip for chip in self.chips if chip[0] in SEVERE]

    @property
    def problem_words(self) -> str:
        return str(ScanProblem(self.problem).label) if self.problem in ScanProblem.values and self.problem else ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What applies to one organisation. `theirs`: exceptions that count for its own rule, the operator's included."""

    floor: Rule
    own: Rule
    everybody: frozenset[Exempt]
    theirs: frozenset[Exempt]

    def verdict(self, found: Report | None) -> Verdict:
        operators = judge(self.floor, found, self.everybody, by_operator=True)
        return stricter(operators, judge(self.own, found, self.theirs))

    @property
    def is_idle(self) -> bool:
        return self.floor.is_idle and self.own.is_idle


def today() -> date:
    return timezone.localdate(db_now())


def rules_of(organisation_ids: Iterable[UUID]) -> dict[UUID, Rules]:
    """Of each of them. Two queries beside the settings, fewer where nothing is to be excepted from."""
    asked = list(organisation_ids)
    floor = settings.get(ScanSettings).rule
    rows = ScanPolicy.objects.filter(organisation_id__in=asked)
    own = {row.organisation_id: own_rule(row) for row in rows}
    exempt: dict[UUID | None, set[Exempt]] = {}
    if not floor.is_idle or own:
        for organisation_id, finding, package in _running_exceptions(asked):
            exempt.setdefault(organisation_id, set()).add(Exempt(finding, package))
    everybody = frozenset(exempt.get(None, ()))
    return {
        each: Rules(floor, own.get(each, Rule()), everybody, everybody | frozenset(exempt.get(each, ())))
        for each in asked
    }


def own_rule(row: ScanPolicy) -> Rule:
    return Rule(row.action, row.severity, row.only_fixable, row.block_unscanned)


def _running_exceptions(organisation_ids: Collection[UUID]) -> Iterable[tuple[UUID | None, str, str]]:
    whose = Q(organisation__isnull=True) | Q(organisation_id__in=organisation_ids)
    rows = ScanException.objects.filter(whose, ended_at__isnull=True, until__gte=today())
    return rows.values_list("organisation_id", "finding", "package")


def reports_of(digests: Collection[str], *, findings: bool) -> dict[str, Report]:
    """Of those with a successful scan. Without findings, which may be thousands, where only counts matter."""
    rows = ImageScan.objects.filter(digest__in=digests, scanned_at__isnull=False)
    names = ("digest", "counts", "findings") if findings else ("digest", "counts")
    return {row[0]: report.unpacked(*row[1:]) for row in rows.values_list(*names)}


def verdicts(organisation_id: UUID, digests: Collection[str]) -> dict[str, Verdict]:
    """Of each digest, for this organisation."""
    if not digests:
        return {}
    rules = rules_of([organisation_id])[organisation_id]
    if rules.is_idle:
        return dict.fromkeys(digests, Verdict())
    found = reports_of(digests, findings=bool(rules.theirs))
    return {digest: rules.verdict(found.get(digest)) for digest in digests}


def summaries(digests: Collection[str], *, findings: bool = False) -> dict[str, Summary]:
    """Of each digest, in two queries beside the settings."""
    if not digests:
        return {}
    scanner = Scanner.objects.filter(key="grype").first()
    rows = ImageScan.objects.filter(digest__in=digests)
    by_digest = {row.digest: row for row in (rows if findings else rows.defer("findings"))}
    stale_after = settings.get(ScanSettings).stale_after
    return {each: _summary(each, by_digest.get(each), scanner, stale_after, findings) for each in digests}


def _summary(
    digest: str, row: ImageScan | None, scanner: Scanner | None, stale_after: timedelta, findings: bool
) -> Summary:
    unable, now = scanner is None or bool(scanner.problem), timezone.now()
    if row is None:
        return Summary(digest, no_scanner=unable, wanted=not unable)
    found = report.unpacked(row.counts, row.findings if findings else ()) if row.scanned_at else None
    stale = row.database_built_at is not None and now - row.database_built_at > stale_after
    return Summary(
        digest, found, row.scanned_at, row.database_built_at, row.scanner, row.wanted_at is not None, row.problem,
        row.problem_detail, row.failed_at, stale, unable,
    )  # fmt: skip


def digest_of(image: Image) -> str:
    """Of a container image; "" of a runtime, which no scan is about."""
    return image.reference.partition("@")[2]


@dataclass(frozen=True, slots=True)
class Known:
    """Of one image, for one reader."""

    summary: Summary
    verdict: Verdict

    @property
    def words(self) -> str:
        return verdict_words(self.verdict)

    @property
    def remedy(self) -> str:
        return remedy_words(self.verdict)


def known_of(organisation_id: UUID | None, images: Iterable[Image]) -> dict[UUID, Known]:
    """By the image's id; runtimes are left out. No query where there are only runtimes."""
    digests = {image.pk: digest for image in images if (digest := digest_of(image))}
    if not digests:
        return {}
    found = known_by_digest(organisation_id, set(digests.values()))
    return {pk: found[digest] for pk, digest in digests.items()}


def known_by_digest(organisation_id: UUID | None, digests: Collection[str]) -> dict[str, Known]:
    found = summaries(digests)
    judged = verdicts(organisation_id, digests) if organisation_id else {}
    return {digest: Known(found[digest], judged.get(digest, Verdict())) for digest in digests}


def verdict_words(verdict: Verdict) -> str:
    """Why it is warned of or not started; "" where it passes."""
    if verdict.cause is Cause.UNSCANNED:
        if verdict.by_operator:
            return _("This image has not been scanned, and the platform's policy starts only what was.")
        return _("This image has not been scanned, and your organisation's policy starts only what was.")
    if verdict.cause is not Cause.FINDINGS:
        return ""
    told = {"count": verdict.count, "severity": Severity(verdict.severity).label}
    counted = ngettext(
        "It has %(count)s known vulnerability of severity %(severity)s or worse",
        "It has %(count)s known vulnerabilities of severity %(severity)s or worse",
        verdict.count,
    )
    if verdict.only_fixable:
        counted = ngettext(
            "It has %(count)s known vulnerability of severity %(severity)s or worse that a newer package mends",
            "It has %(count)s known vulnerabilities of severity %(severity)s or worse that newer packages mend",
            verdict.count,
        )
    return _policy(verdict) % {"found": counted % told}


def _policy(verdict: Verdict) -> str:
    if verdict.blocks:
        if verdict.by_operator:
            return _("%(found)s; the platform's policy does not start it.")
        return _("%(found)s; your organisation's policy does not start it.")
    if verdict.by_operator:
        return _("%(found)s; the platform's policy warns of it.")
    return _("%(found)s; your organisation's policy warns of it.")


def remedy_words(verdict: Verdict) -> str:
    """What one can do about it; "" where it passes."""
    if verdict.cause is Cause.UNSCANNED:
        return _("Have it scanned on the image's page, or choose another image.")
    if verdict.cause is not Cause.FINDINGS:
        return ""
    if verdict.by_operator:
        return _("Use a version with newer packages, or ask the platform's administrators for an exception.")
    return _("Use a version with newer packages, or ask who manages your organisation's images for an exception.")


def scanner_words(problem: str) -> str:
    return str(ScannerProblem(problem).label) if problem in ScannerProblem.values and problem else ""


def unexcepted(findings: Iterable[Finding], exempt: Collection[Exempt]) -> list[tuple[Finding, bool]]:
    """Each with whether an exception overlooks it."""
    return [(each, Exempt(each.id) in exempt or Exempt(each.id, each.package) in exempt) for each in findings]
