"""The form of a schedule. It only translates: every rule stands in the service and in `cron`."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.billing.days import BILLING_ZONE
from apps.common.errors import Invalid
from apps.schedules.choices import LONGEST_NAME, Overlap
from apps.schedules.cron.expression import LONGEST, read_cron
from apps.schedules.models import Schedule
from apps.schedules.services import Plan

_MINUTES = "%Y-%m-%dT%H:%M"


class _MomentField(forms.DateTimeField):
    """In the billing zone, whatever the reader's."""

    widget = forms.DateTimeInput(format=_MINUTES, attrs={"type": "datetime-local"})

    def prepare_value(self, value: Any) -> Any:
        return value.astimezone(BILLING_ZONE).strftime(_MINUTES) if isinstance(value, datetime) else value

    def to_python(self, value: Any) -> datetime | None:
        with timezone.override(BILLING_ZONE):
            return super().to_python(value)


class ScheduleForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the schedule a name.")}
    )
    cron = forms.CharField(
        label=_("When"),
        max_length=LONGEST,
        error_messages={"required": _("Say when, such as 0 2 * * * for every day at two.")},
        help_text=_("Minute, hour, day of the month, month, day of the week, such as 0 2 * * 1-5."),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off", "class": "pl-mono"}),
    )
    overlap = forms.ChoiceField(
        label=_("If the last run has not ended"), choices=Overlap.choices, initial=Overlap.SKIP, widget=forms.Select
    )
    from_at = _MomentField(label=_("Not before"), required=False)
    until_at = _MomentField(label=_("Not after"), required=False)

    def clean_cron(self) -> str:
        try:
            return read_cron(self.cleaned_data["cron"]).text
        except Invalid as error:
            raise forms.ValidationError(str(error.message)) from error

    def plan(self) -> Plan:
        """The form must be valid."""
        data = self.cleaned_data
        return Plan(
            name=data["name"],
            cron=data["cron"],
            from_at=data["from_at"],
            until_at=data["until_at"],
            overlap=Overlap(data["overlap"]),
        )


def initial_of(schedule: Schedule) -> dict[str, Any]:
    return {name: getattr(schedule, name) for name in ScheduleForm.base_fields}
