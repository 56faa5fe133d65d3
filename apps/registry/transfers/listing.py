"""The list of pulls, and its filter."""

from collections.abc import Sequence

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.common.tables import FULL, column
from apps.registry.choices import TransferKind, TransferStatus
from apps.registry.distribution.listing import ArrivalTable
from apps.registry.models import ImageTransfer


class TransferTable(ArrivalTable):
    caption = _("Pulls and uploads")
    source = tables.TemplateColumn(
        '<a class="pl-name pl-break" href="{% url "registry:pull" record.pk %}">{{ record.title }}</a>'
        '<span class="pl-sub pl-break">{% if record.image %}{{ record.image }} · {% endif %}{{ record }}</span>',
        verbose_name=_("Address or archive"),
        attrs=column(width=FULL),
    )
    status = tables.TemplateColumn(
        template_name="registry/transfers/status.html",
        verbose_name=_("State"),
        attrs=column("pl-inline", width=FULL),
    )
    total_bytes = tables.TemplateColumn(
        "{% if record.total_bytes %}{{ record.total_bytes|filesizeformat }}{% else %}–{% endif %}",
        verbose_name=_("Size"),
        attrs=column(fold=_("Size"), numeric=True),
    )

    class Meta(ArrivalTable.Meta):
        sequence = ("source", "status", "total_bytes", "owner", "created_at")


class TransferFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Address or name"), widget=search_box())
    kind = django_filters.ChoiceFilter(choices=TransferKind.choices, label=_("From"), empty_label=_("All sources"))
    status = django_filters.ChoiceFilter(choices=TransferStatus.choices, label=_("State"), empty_label=_("All states"))

    class Meta:
        model = ImageTransfer
        fields: Sequence[str] = ()

    def search(self, rows: QuerySet[ImageTransfer], name: str, value: str) -> QuerySet[ImageTransfer]:
        return rows.filter(Q(source__icontains=value) | Q(repository_name__icontains=value))
