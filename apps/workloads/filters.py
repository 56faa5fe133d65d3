"""Filters of lists of workloads, and of what each owns one; `path` leads from a row to its workload ("workload__")."""

from typing import Any, ClassVar

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.permissions import Permission
from apps.common.tags import LONGEST
from apps.workloads.choices import LIVE, Status
from apps.workloads.tagging import with_tag


class TagFilter(django_filters.CharFilter):
    def __init__(self, path: str = "") -> None:
        super().__init__(label=_("Tag"), widget=forms.TextInput(attrs={"size": 12, "maxlength": LONGEST}))
        self.path = path

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        return with_tag(qs, value, self.path) if value else qs


class StatusFilter(django_filters.ChoiceFilter):
    """A status, or "live": whatever has not ended."""

    def __init__(self, path: str = "") -> None:
        choices = [("live", _("Not ended")), *Status.choices]
        super().__init__(label=_("State"), choices=choices, empty_label=_("Any state"))
        self.path = path

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        return qs.filter(**{f"{self.path}status__in": LIVE if value == "live" else [value]})


class MembersWork(django_filters.FilterSet):
    """What members start. Each set names `mine` in its own order; it goes where the reader sees only their own."""

    sees_all: ClassVar[Permission]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.request.actor.may(self.sees_all):
            del self.form.fields["mine"]
