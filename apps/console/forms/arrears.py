"""The forms of arrears: what holds for everybody, and the terms of one organisation."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.arrears_settings import MAX_GRACE_MINUTES, MAX_RETENTION_DAYS, ArrearsSettings
from apps.billing.policy import RELEASE_NOTICES
from apps.billing.selectors import Standing
from apps.console.forms.settings.base import SettingsForm


class ArrearsForm(SettingsForm):
    group = ArrearsSettings

    grace_minutes = forms.IntegerField(
        label=_("Work goes on without money for"),
        min_value=0,
        max_value=MAX_GRACE_MINUTES,
        help_text=_("Then it is saved and stopped."),
    )
    retention_days = forms.IntegerField(
        label=_("Data is kept after that for"),
        min_value=RELEASE_NOTICES[0],
        max_value=MAX_RETENTION_DAYS,
        help_text=_("Its release is announced 7, 3 and 1 days before."),
    )
    deletes = forms.BooleanField(
        label=_("Released data goes into the recycle bin by itself"),
        required=False,
        help_text=_("Otherwise it stays until the platform's staff move it there."),
    )


class ArrearsTermsForm(forms.Form):
    """Empty: as everybody's."""

    grace_minutes = forms.IntegerField(
        label=_("Work goes on without money for"), required=False, min_value=0, max_value=MAX_GRACE_MINUTES
    )
    retention_days = forms.IntegerField(
        label=_("Data is kept after that for"),
        required=False,
        min_value=RELEASE_NOTICES[0],
        max_value=MAX_RETENTION_DAYS,
    )


def terms_form(standing: Standing, data: Any = None) -> ArrearsTermsForm:
    initial = {"grace_minutes": standing.own_grace_minutes, "retention_days": standing.own_retention_days}
    return ArrearsTermsForm(data, initial=initial)
