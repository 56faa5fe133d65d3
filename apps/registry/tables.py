"""The list of images that one may choose, and its filter."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.registry.facts import Facts
from apps.registry.models import Image
from apps.registry.picker import is_installed
from apps.registry.scanning.verdicts import Known


class ImageTable(Table):
    caption = _("Images")
    facts: Mapping[UUID, Facts] = {}  # of the rows of the page, from who pages it
    known: Mapping[UUID, Known] = {}  # likewise, of those that are container images

    name = tables.TemplateColumn(
        '<a class="pl-name" href="{% url "registry:detail" record.pk %}">{{ record.name }}</a>'
        '<span class="pl-sub">{{ record.description }}</span>',
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
    size = tables.Column(
        accessor="pk", verbose_name=_("Size"), orderable=False, attrs=column(fold=_("Size"), numeric=True)
    )
    scan = tables.Column(
        accessor="pk", verbose_name=pgettext_lazy("noun", "Scan"), orderable=False,
        attrs=column(fold=pgettext_lazy("noun", "Scan")),
    )  # fmt: skip
    last_run = tables.Column(
        accessor="pk", verbose_name=_("Last run here"), orderable=False, attrs=column(fold=_("Last run here"))
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

    def render_size(self, record: Image) -> str:
        return render_to_string("registry/cells/size.html", {"image": record, "facts": self._facts(record)})

    def render_scan(self, record: Image) -> str:
        return render_to_string("registry/cells/scan.html", {"known": self.known.get(record.pk)})

    def render_last_run(self, record: Image) -> str:
        return render_to_string("registry/cells/last_run.html", {"facts": self._facts(record)})

    def _facts(self, record: Image) -> Facts:
        return self.facts.get(record.pk, Facts())


class ImageFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(
        method="search",
        label=_("Name or package"),
        widget=search_box(),
    )
    whose = django_filters.ChoiceFilter(
        method="by_owner",
        choices=[
            ("mine", _("My images")),
            ("shared", _("Shared by colleagues")),
            ("received", _("Shared with us")),
            ("platform", _("The platform's")),
        ],
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
        actor = self.request.actor
        inside = Q(organisation_id=actor.organisation_id)
        if value == "received":
            return rows.filter(organisation__isnull=False).exclude(inside)
        own = Q(owner_id=actor.user_id)
        return rows.filter(inside & (own if value == "mine" else ~own))
