"""The list of images that one may choose, and its filter."""

from collections.abc import Sequence

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.registry.models import Image
from apps.registry.picker import is_installed


class ImageTable(Table):
    caption = _("Images")
    name = tables.TemplateColumn(
        '<span class="pl-name">{{ record.name }}</span><span class="pl-sub">{{ record.description }}</span>',
        verbose_name=_("Name"),
        attrs=column(width=FULL),
    )
    whose = tables.TemplateColumn(
        template_name="registry/cells/whose.html",
        verbose_name=pgettext_lazy("source", "From"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-inline", width=FULL),
    )
    installed = tables.Column(
        accessor="pk",
        verbose_name=_("On this machine"),
        orderable=False,
        attrs=column("pl-inline", width=FULL),
    )
    packages = tables.TemplateColumn(
        "<span title=\"{{ record.requirements|join:', ' }}\">{{ record.requirements|length }}</span>",
        verbose_name=pgettext_lazy("software", "Packages"),
        orderable=False,
        attrs=column(fold=pgettext_lazy("software", "Packages"), numeric=True),
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Made"),
        attrs=column("pl-roomy", fold=_("Made"), numeric=True),
    )
    actions = tables.TemplateColumn(
        template_name="registry/cells/actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts", numeric=True, width=FULL),
    )

    def render_installed(self, record: Image) -> str:
        """Checks the disk only for the rows of the page."""
        return render_to_string("registry/cells/installed.html", {"installed": is_installed(record)})


class ImageFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(
        method="search",
        label=_("Name or package"),
        widget=search_box(),
    )
    whose = django_filters.ChoiceFilter(
        method="by_owner",
        choices=[("mine", _("My images")), ("shared", _("Shared by colleagues")), ("platform", _("The platform's"))],
        label=_("Whose"),
        empty_label=_("All images"),
    )

    class Meta:
        model = Image
        fields: Sequence[str] = ()

    def search(self, rows: QuerySet[Image], name: str, value: str) -> QuerySet[Image]:
        return rows.filter(Q(name__icontains=value) | Q(requirements__icontains=value))

    def by_owner(self, rows: QuerySet[Image], name: str, value: str) -> QuerySet[Image]:
        if value == "platform":
            return rows.filter(organisation__isnull=True)
        own = Q(owner_id=self.request.actor.user_id)
        return rows.filter(own if value == "mine" else Q(organisation__isnull=False) & ~own)
