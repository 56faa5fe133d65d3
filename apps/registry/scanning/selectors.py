"""Reading policies and exceptions."""

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry.scanning.models import ScanException, ScanPolicy
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.verdicts import own_rule


def policy_of(actor: Actor) -> ScanPolicy | None:
    found: ScanPolicy | None = ScanPolicy.objects.filter(organisation_id=actor.organisation()).first()
    return found


def rule_of(actor: Actor) -> Rule:
    """The organisation's own; idle where it has none."""
    row = policy_of(actor)
    return own_rule(row) if row is not None else Rule()


def exceptions(actor: Actor) -> QuerySet[ScanException]:
    """The organisation's, the newest first, whether they still count or not."""
    actor.require(Permission.IMAGES_USE)
    return ScanException.objects.filter(organisation_id=actor.organisation()).select_related("made_by")


def platform_exceptions(actor: Actor) -> QuerySet[ScanException]:
    actor.require(Permission.PLATFORM_SETTINGS_VIEW)
    return ScanException.objects.filter(organisation__isnull=True).select_related("made_by")
