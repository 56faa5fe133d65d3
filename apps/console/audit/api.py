"""/api/v1/console/audit/: who changed what."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers

from apps.audit.models import Entry
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.console.audit import selectors as reads
from apps.console.audit.listing import AuditFilter
from apps.console.kit.api import NewestFirst


class EntryOut(serializers.Serializer[Entry]):
    id = serializers.IntegerField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    organisation_id = serializers.UUIDField(read_only=True, allow_null=True)
    actor_id = serializers.IntegerField(read_only=True, allow_null=True)
    actor = serializers.CharField(source="actor_label", read_only=True)
    channel = serializers.CharField(read_only=True)
    address = serializers.CharField(read_only=True, allow_null=True)
    action = serializers.CharField(read_only=True)
    target_type = serializers.CharField(read_only=True)
    target_id = serializers.CharField(read_only=True)
    target = serializers.CharField(source="target_label", read_only=True)
    before = serializers.DictField(read_only=True)
    after = serializers.DictField(read_only=True)


@extend_schema(tags=["console: audit"])
class Entries(ScopedView, generics.ListAPIView[Entry]):
    access = on_platform(P.PLATFORM_AUDIT_VIEW)
    queryset = Entry.objects.none()
    serializer_class = EntryOut
    pagination_class = NewestFirst
    filterset_class = AuditFilter

    def get_queryset(self) -> QuerySet[Entry]:
        return reads.entries(self.actor)


@extend_schema(tags=["console: audit"])
class MoneyEntries(Entries):
    """The entries that concern money: prices, packages, limits, recharges, vouchers, invoices, requests."""

    access = on_platform(P.PLATFORM_AUDIT_MONEY)

    def get_queryset(self) -> QuerySet[Entry]:
        return reads.money_entries(self.actor)
