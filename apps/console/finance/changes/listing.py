"""The list of changes that two people decide on: its columns and filters; page and API share the filters."""

import django_filters
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.change_choices import ChangeKind
from apps.billing.changes.services import notice_data
from apps.billing.choices import RequestState
from apps.billing.models import ChangeRequest
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.notifications.words.changes import change_steps, change_title


class ChangeTable(Table):
    caption = _("Changes that need two people")
    what = Cell(
        "<a class='pl-name' href='{% url \"console:change_request\" record.pk %}'>{{ record.title }}</a>",
        verbose_name=_("Kind"),
        orderable=False,
        attrs=column(width=FULL),
    )
    steps = Cell(
        "{% for step in record.steps %}<span class='pl-strong'>{{ step }}</span> {% endfor %}",
        verbose_name=_("From what to what"),
        orderable=False,
        attrs=column(fold=_("From what to what")),
    )
    state = Cell(
        template_name="console/cells/request_state.html", verbose_name=_("State"), orderable=False, attrs=column()
    )
    requested_by = Cell(
        "{{ record.requested_by.display_name }}",
        verbose_name=_("Asked by"),
        order_by=("requested_by__username",),
        attrs=column(fold=_("Asked by")),
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("When"),
        attrs=column(fold=_("When"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:change_request", args=[record.pk])}


def with_words(found: ChangeRequest) -> ChangeRequest:
    """The request with `title` and `steps`, in the reader's language."""
    data = notice_data(found)
    found.title, found.steps = change_title(data), change_steps(data)  # type: ignore[attr-defined]
    return found


class ChangeFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=RequestState.choices, label=_("State"), empty_label=_("Any state"))
    kind = django_filters.ChoiceFilter(choices=ChangeKind.choices, label=_("Kind"), empty_label=_("Any change"))

    class Meta:
        model = ChangeRequest
        fields: tuple[str, ...] = ()

    @property
    def qs(self) -> QuerySet[ChangeRequest]:
        rows: QuerySet[ChangeRequest] = super().qs
        return rows
