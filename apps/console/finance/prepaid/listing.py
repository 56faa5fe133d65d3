"""Lists of prepaid orders and of prices by the period: columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import PREPAID_TERMS, PrepaidStatus
from apps.billing.models import PrepaidOrder
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.finance.price_versions import VersionTable
from apps.console.kit.filters import OrganisationFilter


class PrepaidTable(Table):
    caption = _("Prepaid orders")
    export = "prepaid"
    package = Cell(
        "{% load prepaid %}<a class='pl-name' href='{% url \"console:prepaid_order\" record.pk %}'>"
        "{{ record|prepaid_name }}</a><span class='pl-sub'>{{ record.get_term_display }}</span>",
        verbose_name=_("Package"),
        order_by=("package__name_en",),
        attrs=column("o-1", width=FULL),
    )
    organisation = tables.Column(
        order_by=("organisation__name",), verbose_name=_("Organisation"), attrs=column(width=FULL)
    )
    status = Cell(template_name="billing/prepaid/state.html", verbose_name=_("State"), attrs=column("o-2"))
    ends_at = Cell(
        "{% load pl %}{% when record.ends_at %}",
        verbose_name=_("Paid until"),
        attrs=column("pl-nowrap", fold=_("Paid until")),
    )
    paid_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.paid_fen|amount }}</span>",
        verbose_name=_("Paid ¥"),
        attrs=column(fold=_("Paid ¥"), numeric=True),
    )
    earned_fen = Cell(
        "{% load pl %}{{ record.earned_fen|amount }}",
        verbose_name=_("Earned ¥"),
        attrs=column(fold=_("Earned ¥"), numeric=True),
    )
    left_fen = Cell(
        "{% load pl %}{{ record.left_fen|amount }}",
        verbose_name=_("Deferred ¥"),
        attrs=column(fold=_("Deferred ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:prepaid_order", args=[record.pk])}


class TermPriceTable(VersionTable):
    caption = _("Prices by the period")
    term = Cell("{{ record.get_term_display }}", verbose_name=_("Term"), orderable=False, attrs=column(fold=_("Term")))
    price_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.price_fen|amount }}</span>",
        verbose_name=_("Price ¥"),
        orderable=False,
        attrs=column(fold=_("Price ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        sequence = ("term", "number", "price_fen", "effective_from", "effective_to")


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
