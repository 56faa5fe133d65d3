"""Filters of the audit log; pages and API share them."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.models import Entry
from apps.common.forms import search_box
from apps.console.action_words import ACTIONS
from apps.console.filters.base import BetweenDays, OrganisationFilter, day_filter
from apps.console.words import TARGETS


class AuditFilter(BetweenDays):
    who = django_filters.CharFilter(
        field_name="actor_label", lookup_expr="icontains", label=_("Who"), widget=search_box(16)
    )
    action = django_filters.ChoiceFilter(
        choices=sorted(ACTIONS.items()), label=_("Action"), empty_label=_("Any action")
    )
    target_type = django_filters.ChoiceFilter(
        choices=sorted(TARGETS.items()), label=_("Kind of object"), empty_label=_("Any object")
    )
    target = django_filters.CharFilter(method="by_target", label=_("Object's name or id"))
    organisation = OrganisationFilter()
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = Entry
        fields: tuple[str, ...] = ()

    def by_target(self, rows: QuerySet[Entry], name: str, value: str) -> QuerySet[Entry]:
        return rows.filter(Q(target_label__icontains=value) | Q(target_id=value))
