"""Filter of prepaid orders; the page and the API share it."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import PREPAID_TERMS, PrepaidStatus
from apps.billing.models import PrepaidOrder
from apps.common.forms import search_box
from apps.console.filters.base import OrganisationFilter


class PrepaidFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Package or buyer"), widget=search_box())
    status = django_filters.ChoiceFilter(choices=PrepaidStatus.choices, label=_("State"), empty_label=_("Any state"))
    term = django_filters.ChoiceFilter(
        choices=[(term.value, term.label) for term in PREPAID_TERMS], label=_("Term"), empty_label=_("Any term")
    )
    organisation = OrganisationFilter()

    class Meta:
        model = PrepaidOrder
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[PrepaidOrder], name: str, value: str) -> QuerySet[PrepaidOrder]:
        by_package = Q(package__name_en__icontains=value) | Q(package__name_zh__icontains=value)
        return rows.filter(by_package | Q(user__username__icontains=value) | Q(user__name__icontains=value))
