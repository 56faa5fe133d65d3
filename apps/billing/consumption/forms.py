"""What a person asks of the list of charges: which days, which runs, in which order."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django import forms
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.consumption.selectors import ChargeFilter
from apps.billing.days import billing_day
from apps.common.clock import db_now
from apps.common.forms import day_field


class Period(models.TextChoices):
    """Ranges of days that one asks for most."""

    MONTH = "month", _("This month")
    LAST_MONTH = "last_month", _("Last month")
    WEEK = "7d", _("7 days")
    THIRTY = "30d", _("30 days")


class Order(models.TextChoices):
    RECENT = "recent", _("Latest first")
    AMOUNT = "amount", _("Most expensive first")
    TIME = "time", _("Longest first")
    NAME = "name", _("By name")


# A longer span would make one page read years of charges; an export has no limit.
LONGEST = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class ConsumptionQuery:
    """Days of the billing zone, both included; `period` is None for days that were typed."""

    since: date
    until: date
    period: Period | None
    text: str = ""
    order: Order = Order.RECENT

    @property
    def filters(self) -> ChargeFilter:
        return ChargeFilter(since=self.since, until=self.until)

    def narrow(self, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
        """Only charges of runs whose name or owner contains the text."""
        if not self.text:
            return rows
        return rows.filter(
            Q(session__label__icontains=self.text)
            | Q(session__user__username__icontains=self.text)
            | Q(session__user__name__icontains=self.text)
        )


class ConsumptionForm(forms.Form):
    """Days win over a named period; without either it is the current month."""

    q = forms.CharField(
        label=_("Run or member"), required=False, max_length=80, widget=forms.TextInput(attrs={"type": "search"})
    )
    since = day_field(_("From"), required=False)
    until = day_field(_("To"), required=False)
    order = forms.ChoiceField(label=pgettext_lazy("sorting", "Order"), required=False, choices=Order.choices)
    range = forms.ChoiceField(required=False, choices=Period.choices, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and until < since:
            self.add_error("until", _("The last day lies before the first."))
        elif since and (until or today()) - since > LONGEST:
            self.add_error("since", _("Choose at most one year; an export may be longer."))
        return data

    def asked(self) -> ConsumptionQuery:
        """The query; values that cannot be parsed are ignored."""
        if not self.is_valid():
            return ConsumptionQuery(*days_of(Period.MONTH), Period.MONTH)
        data = self.cleaned_data
        order = Order(data["order"] or Order.RECENT)
        if data["since"] or data["until"]:
            until = data["until"] or today()
            since = data["since"] or until.replace(day=1)
            return ConsumptionQuery(since, until, None, data["q"], order)
        period = Period(data["range"] or Period.MONTH)
        return ConsumptionQuery(*days_of(period), period, data["q"], order)


def today() -> date:
    return billing_day(db_now())


def days_of(period: Period) -> tuple[date, date]:
    """First and last day of a named period, today being the last unless the period has ended."""
    last = today()
    if period is Period.MONTH:
        return last.replace(day=1), last
    if period is Period.LAST_MONTH:
        before = last.replace(day=1) - timedelta(days=1)
        return before.replace(day=1), before
    return last - timedelta(days=6 if period is Period.WEEK else 29), last
