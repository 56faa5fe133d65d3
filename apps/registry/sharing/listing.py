"""The list of what other organisations share with one's own, and its filter."""

from collections.abc import Sequence

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.registry.sharing.models import RepositoryShare
from apps.registry.sharing.selectors import state_of


class ReceivedTable(Table):
    caption = _("Shared with us")
    may_manage = False  # from who pages it

    repository = tables.TemplateColumn(
        template_name="registry/sharing/received_name.html",
        verbose_name=_("Repository"),
        order_by=("repository__name",),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        accessor="repository__organisation__name", verbose_name=_("Organisation"), attrs=column(fold=_("Organisation"))
    )
    state = tables.TemplateColumn(
        template_name="registry/sharing/state.html",
        verbose_name=_("State"),
        orderable=False,
        attrs=column("pl-inline", width=FULL),
    )
    until = tables.TemplateColumn(
        template_name="registry/sharing/until.html",
        verbose_name=_("Until"),
        attrs=column(fold=_("Until"), numeric=True),
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Shared on"),
        attrs=column(fold=_("Shared on"), numeric=True),
    )
    actions = tables.TemplateColumn(
        template_name="registry/sharing/received_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts", numeric=True, width=FULL),
    )


def with_states(rows: Sequence[RepositoryShare]) -> Sequence[RepositoryShare]:
    for row in rows:
        row.state = state_of(row)  # type: ignore[attr-defined]  # for templates and serializers
    return rows


class ReceivedFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Repository or organisation"), widget=search_box())

    class Meta:
        model = RepositoryShare
        fields: Sequence[str] = ()

    def search(self, rows: QuerySet[RepositoryShare], name: str, value: str) -> QuerySet[RepositoryShare]:
        return rows.filter(Q(repository__name__icontains=value) | Q(repository__organisation__name__icontains=value))
