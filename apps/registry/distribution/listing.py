"""The list of repositories, and its filter."""

from collections.abc import Sequence

import django_filters
import django_tables2 as tables
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.registry.models import ImageRepository


class ArrivalTable(Table):
    """Of what is brought into the registry: by whom, and since when."""

    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Submitted"),
        attrs=column(fold=_("Submitted"), numeric=True),
    )


class RepositoryTable(Table):
    caption = _("Container images")
    name = tables.TemplateColumn(
        '<a class="pl-name pl-break" href="{% url "registry:repository" record.pk %}">{{ record.name }}</a>',
        verbose_name=_("Repository"),
        attrs=column(width=FULL),
    )
    whose = tables.TemplateColumn(
        template_name="registry/cells/repository_owner.html",
        verbose_name=_("Belongs to"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-inline", width=FULL),
    )
    tag_count = tables.Column(verbose_name=_("Tags"), attrs=column(fold=_("Tags"), numeric=True))
    size = tables.TemplateColumn(
        "{{ record.size|filesizeformat }}",
        verbose_name=_("Size of the newest"),
        attrs=column(fold=_("Size of the newest"), numeric=True),
    )
    pushed_at = tables.TemplateColumn(
        "{% load pl %}{% when record.pushed_at %}",
        verbose_name=_("Pushed"),
        attrs=column(fold=_("Pushed"), numeric=True),
    )


class RepositoryFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(field_name="name", lookup_expr="icontains", label=_("Name"), widget=search_box())
    whose = django_filters.ChoiceFilter(
        method="by_owner",
        choices=[
            ("mine", _("My repositories")),
            ("organisation", _("The organisation's")),
            ("received", _("Shared with us")),
        ],
        label=_("Whose"),
        empty_label=_("All repositories"),
    )

    class Meta:
        model = ImageRepository
        fields: Sequence[str] = ()

    def by_owner(self, rows: QuerySet[ImageRepository], name: str, value: str) -> QuerySet[ImageRepository]:
        actor = self.request.actor
        if value == "received":
            return rows.exclude(organisation_id=actor.organisation_id)
        owner_id = actor.user_id if value == "mine" else None
        return rows.filter(owner_id=owner_id, organisation_id=actor.organisation_id)
