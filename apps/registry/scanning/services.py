"""What people do about scans: ask for one, set the organisation's policy, except single findings from policies."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry import selectors as images
from apps.registry.models import Image
from apps.registry.scanning import verdicts, wanting
from apps.registry.scanning.choices import THRESHOLDS, PolicyAction
from apps.registry.scanning.models import MAX_ID, MAX_PACKAGE, ScanException, Scanner, ScanPolicy
from apps.registry.scanning.policy import Rule
from apps.tenants.models import Organisation
from apps.workloads.references import Reference

LONGEST_EXCEPTION = timedelta(days=366)
MOST_EXCEPTIONS = 2000
MAX_REASON = 300


def ask_scan(actor: Actor, image_id: UUID) -> Image:
    """Have it scanned, again where it was. `Conflict` for a runtime, and where there is no scanner."""
    actor.require(Permission.IMAGES_USE)
    image = images.get(actor, image_id)
    if not image.reference:
        raise Conflict(_("Only container images are scanned."))
    scanner = Scanner.objects.filter(key="grype").first()
    if scanner is None or scanner.problem:
        raise Conflict(_("The platform cannot scan images now."), hint=_("Its administrators see why in the settings."))
    with transaction.atomic():
        wanting.want(Reference.parse(image.reference), anew=True)
        target = Target("image", str(image.pk), image.name)
        record(actor, action="image.scan_asked", target=target, organisation_id=image.organisation_id)
    return image


def set_policy(actor: Actor, rule: Rule) -> ScanPolicy:
    """The organisation's own, for later starts; what runs goes on. Raises `Invalid`."""
    actor.require(Permission.IMAGES_MANAGE)
    organisation_id = actor.organisation()
    if rule.action not in PolicyAction.values:
        raise Invalid.field("action", _("Choose off, warn or block."))
    if rule.severity not in THRESHOLDS:
        raise Invalid.field("severity", _("Choose critical, high, medium or low."))
    with transaction.atomic():
        organisation = Organisation.objects.select_for_update(no_key=True).get(pk=organisation_id)
        before = ScanPolicy.objects.filter(organisation_id=organisation_id).first()
        was = verdicts.own_rule(before) if before else Rule()
        if before is not None and was == rule:
            return before
        row, _made = ScanPolicy.objects.update_or_create(
            organisation_id=organisation_id,
            defaults={**_fields(rule), "set_by_id": actor.user_id, "set_at": Now()},
        )
        record(
            actor,
            action="image_policy.changed",
            target=Target("organisation", str(organisation_id), organisation.name),
            organisation_id=organisation_id,
            before=_fields(was),
            after=_fields(rule),
        )
    return row


def _fields(rule: Rule) -> dict[str, Any]:
    return {
        "action": rule.action,
        "severity": rule.severity,
        "only_fixable": rule.only_fixable,
        "block_unscanned": rule.block_unscanned,
    }


def add_exception(
    actor: Actor, *, finding: str, package: str, reason: str, until: date, everybody: bool = False
) -> ScanException:
    """Overlook a finding to the end of the day `until`: for the actor's organisation, or, by the operator, for all.

    Raises `Invalid` with the field, `Conflict`.
    """
    organisation_id = _whose(actor, everybody)
    values = _checked(finding, package, reason, until)
    with transaction.atomic():
        running = _of(organisation_id).filter(ended_at__isnull=True, until__gte=verdicts.today())
        if running.filter(finding=values["finding"], package=values["package"]).exists():
            raise Conflict(_("There is an exception for this already."), hint=_("End that one first."))
        if running.count() >= MOST_EXCEPTIONS:
            raise Conflict(_("There are 2,000 exceptions already."), hint=_("End those that are not needed any more."))
        made: ScanException = ScanException.objects.create(
            organisation_id=organisation_id, made_by_id=actor.user_id, **values
        )
        _record(actor, made, "added", after={**values, "until": until.isoformat()})
    made.refresh_from_db()
    return made


def end_exception(actor: Actor, exception_id: UUID, *, everybody: bool = False) -> None:
    """From now on the policy acts on the finding again. `NotFound` for one that has ended."""
    organisation_id = _whose(actor, everybody)
    with transaction.atomic():
        rows = _of(organisation_id).select_for_update(of=("self",))
        row = rows.filter(pk=exception_id, ended_at__isnull=True).first()
        if row is None:
            raise NotFound
        ScanException.objects.filter(pk=row.pk).update(ended_at=Now(), ended_by_id=actor.user_id)
        _record(actor, row, "ended")


def _of(organisation_id: UUID | None) -> QuerySet[ScanException]:
    """An organisation's, or the operator's."""
    if organisation_id is None:
        return ScanException.objects.filter(organisation__isnull=True)
    return ScanException.objects.filter(organisation_id=organisation_id)


def _whose(actor: Actor, everybody: bool) -> UUID | None:
    if everybody:
        actor.require(Permission.PLATFORM_SETTINGS_MANAGE)
        return None
    actor.require(Permission.IMAGES_MANAGE)
    return actor.organisation()


def _checked(finding: str, package: str, reason: str, until: date) -> dict[str, Any]:
    finding, package, reason = finding.strip(), package.strip(), " ".join(reason.split())
    if not 0 < len(finding) <= MAX_ID or not finding.isprintable() or " " in finding:
        raise Invalid.field("finding", _("Give the finding's number, as in CVE-2025-66418."))
    if len(package) > MAX_PACKAGE or not package.isprintable():
        raise Invalid.field("package", _("Give the package's name as the scan has it, or leave this empty for any."))
    if not 0 < len(reason) <= MAX_REASON:
        raise Invalid.field("reason", _("Say in up to 300 characters why it does no harm here."))
    today = verdicts.today()
    if not today <= until <= today + LONGEST_EXCEPTION:
        raise Invalid.field("until", _("Choose a day from today on, within a year."))
    return {"finding": finding, "package": package, "reason": reason, "until": until}


def _record(actor: Actor, row: ScanException, action: str, after: dict[str, Any] | None = None) -> None:
    record(
        actor,
        action=f"image_exception.{action}",
        target=Target("image_exception", str(row.pk), row.finding),
        organisation_id=row.organisation_id,
        after=after,
    )
