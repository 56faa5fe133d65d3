"""All vouchers of the organisation, those that are over too."""

import django_filters
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from apps.billing.choices import VoucherState
from apps.billing.models import Voucher
from apps.billing.vouchers.selectors import vouchers
from apps.billing.vouchers.tables import VoucherTable
from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest


class VoucherFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=VoucherState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = Voucher
        fields: tuple[str, ...] = ()


@requires(in_organisation(Permission.BILLING_VIEW))
@require_GET
def voucher_list(request: ActorRequest) -> HttpResponse:
    filtered = VoucherFilter(request.GET, queryset=vouchers(request.actor), request=request)
    table = VoucherTable(filtered.qs)
    paged(request, table)
    return render(request, "billing/vouchers/list.html", {"table": table, "filter": filtered})
