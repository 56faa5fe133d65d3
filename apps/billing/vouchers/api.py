"""/api/v1/vouchers/: the organisation's vouchers."""

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import VoucherScope, VoucherState
from apps.billing.models import Voucher
from apps.billing.vouchers.selectors import voucher, vouchers
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

TAGS = ["money"]
VIEW = in_organisation(Permission.BILLING_VIEW)


class VoucherOut(serializers.Serializer[Voucher]):
    """Whole fen. It pays for usage of its scope within [valid_from, valid_until), before the wallet does."""

    id = serializers.IntegerField(read_only=True)
    amount_fen = serializers.IntegerField(read_only=True)
    used_fen = serializers.IntegerField(read_only=True)
    left_fen = serializers.IntegerField(read_only=True)
    scope = serializers.ChoiceField(choices=VoucherScope.choices, read_only=True)
    package_id = serializers.IntegerField(allow_null=True, read_only=True)
    gpu_model = serializers.CharField(read_only=True)
    state = serializers.ChoiceField(choices=VoucherState.choices, read_only=True)
    valid_from = serializers.DateTimeField(read_only=True)
    valid_until = serializers.DateTimeField(read_only=True)
    voided_at = serializers.DateTimeField(allow_null=True, read_only=True)
    note = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class VoucherFilters(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=VoucherState.choices)
    scope = django_filters.ChoiceFilter(choices=VoucherScope.choices)

    class Meta:
        model = Voucher
        fields: tuple[str, ...] = ()


@extend_schema(tags=TAGS)
class Vouchers(ScopedView, generics.ListAPIView[Voucher]):
    access = VIEW
    queryset = Voucher.objects.none()
    serializer_class = VoucherOut
    pagination_class = CreatedCursor
    filterset_class = VoucherFilters

    def get_queryset(self) -> QuerySet[Voucher]:
        return vouchers(self.actor)


@extend_schema(tags=TAGS, responses=VoucherOut)
class VoucherDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, voucher_id: int) -> Response:
        return Response(VoucherOut(voucher(self.actor, voucher_id)).data)
