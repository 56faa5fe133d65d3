"""Filters that several lists share."""

from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _


class OnlyFilter(django_filters.BooleanFilter):
    """A check box that narrows the list when it is on and does nothing when off."""

    field_class = forms.BooleanField


class MineFilter(OnlyFilter):
    """Rows that the reader owns. Needs the set's request, with its actor."""

    def __init__(self) -> None:
        super().__init__(label=_("Mine only"))

    def filter(self, qs: QuerySet[Any], value: bool | None) -> QuerySet[Any]:
        return qs.filter(owner_id=self.parent.request.actor.user_id) if value else qs
