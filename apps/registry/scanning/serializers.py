"""What the API says of scans, policies and exceptions."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from apps.registry.scanning.choices import THRESHOLDS, PolicyAction, Severity
from apps.registry.scanning.models import MAX_ID, MAX_PACKAGE, ScanException, Scanner
from apps.registry.scanning.verdicts import Known

SEVERITIES = ", ".join(each.value for each in Severity)


class CountOut(serializers.Serializer[Any]):
    severity = serializers.CharField(read_only=True, help_text=SEVERITIES)
    count = serializers.IntegerField(read_only=True)
    fixable = serializers.IntegerField(read_only=True, help_text="How many of them a newer package mends.")


class KnownOut(serializers.Serializer[Known]):
    """What is known of a container image, and what the policies make of it for this organisation."""

    digest = serializers.CharField(source="summary.digest", read_only=True)
    scanned_at = serializers.DateTimeField(
        source="summary.scanned_at", read_only=True, allow_null=True, help_text="null: no scan has succeeded."
    )
    scanner = serializers.CharField(source="summary.scanner", read_only=True)
    database_built_at = serializers.DateTimeField(source="summary.built_at", read_only=True, allow_null=True)
    stale = serializers.BooleanField(
        source="summary.stale", read_only=True, help_text="The database is older than the platform calls current."
    )
    waiting = serializers.BooleanField(source="summary.wanted", read_only=True, help_text="A scan is asked for.")
    problem = serializers.CharField(
        source="summary.problem", read_only=True, help_text="Why the last one failed: image_away, timed_out …"
    )
    counts = serializers.SerializerMethodField()
    verdict = serializers.SerializerMethodField(help_text="What a start in it meets: pass, warn or block.")
    cause = serializers.CharField(source="verdict.cause", read_only=True, help_text="findings, unscanned, or empty.")
    words = serializers.CharField(read_only=True, help_text="Why, in the language asked for; empty where it passes.")
    remedy = serializers.CharField(read_only=True)

    def get_counts(self, known: Known) -> list[dict[str, Any]]:
        found = known.summary.report
        pairs = [] if found is None else [(each.value, *found.counts.get(each.value, (0, 0))) for each in Severity]
        return [{"severity": name, "count": count, "fixable": fixable} for name, count, fixable in pairs]

    def get_verdict(self, known: Known) -> str:
        return known.verdict.act.name.lower()


class FindingOut(serializers.Serializer[Any]):
    id = serializers.CharField(read_only=True)
    severity = serializers.CharField(read_only=True, help_text=SEVERITIES)
    package = serializers.CharField(read_only=True)
    version = serializers.CharField(read_only=True)
    fixed_in = serializers.CharField(source="fixed", read_only=True, help_text="Empty: there is no fix yet.")
    type = serializers.CharField(source="kind", read_only=True)
    excepted = serializers.BooleanField(source="exempt", read_only=True)


class FindingsOut(serializers.Serializer[Any]):
    count = serializers.IntegerField(read_only=True, help_text="How many the filter leaves.")
    results = FindingOut(many=True, read_only=True)


class FindingsQuery(serializers.Serializer[Any]):
    q = serializers.CharField(required=False, allow_blank=True, max_length=200, help_text="Of number or package.")
    severity = serializers.ChoiceField(required=False, choices=[each.value for each in Severity])
    fix = serializers.ChoiceField(required=False, choices=["yes", "no"])
    offset = serializers.IntegerField(required=False, min_value=0, max_value=1_000_000, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=500, default=100)


class PolicySerializer(serializers.Serializer[Any]):
    """`off`, `warn` or `block` from a severity on."""

    action = serializers.ChoiceField(choices=PolicyAction.values)
    severity = serializers.ChoiceField(choices=[each.value for each in THRESHOLDS])
    only_fixable = serializers.BooleanField(help_text="Only findings that a newer package mends.")
    block_unscanned = serializers.BooleanField(help_text="What no scan has succeeded for does not start.")


class PoliciesOut(PolicySerializer):
    """The organisation's own, and beside it the platform's; the stricter one decides."""

    platform = PolicySerializer(read_only=True)


class ExceptionSerializer(serializers.Serializer[ScanException]):
    id = serializers.UUIDField(read_only=True)
    finding = serializers.CharField(max_length=MAX_ID)
    package = serializers.CharField(max_length=MAX_PACKAGE, allow_blank=True, default="", help_text="Empty: in any.")
    reason = serializers.CharField(max_length=300)
    until = serializers.DateField(help_text="The last day on which it counts.")
    made_by = serializers.CharField(source="made_by.username", default=None, allow_null=True, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)


class ScannerOut(serializers.Serializer[Any]):
    version = serializers.CharField(read_only=True)
    database_built_at = serializers.DateTimeField(source="built_at", read_only=True, allow_null=True)
    schema = serializers.CharField(read_only=True)
    problem = serializers.CharField(read_only=True, help_text="no_scanner, broken, no_database, or empty.")
    seen_at = serializers.SerializerMethodField(help_text="null: never.")
    update_problem = serializers.CharField(read_only=True, help_text="Of the last try to reach the mirror.")

    def get_seen_at(self, scanner: Scanner) -> datetime | None:
        return None if scanner._state.adding else scanner.seen_at
