"""The form of one organisation's terms in arrears."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.arrears.settings import MAX_GRACE_MINUTES, MAX_RETENTION_DAYS, WRONG_RETENTION
from apps.billing.policy import RELEASE_NOTICES
from apps.billing.selectors import Standing


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
        error_messages={"min_value": WRONG_RETENTION, "max_value": WRONG_RETENTION},
    )


def terms_form(standing: Standing, data: Any = None) -> ArrearsTermsForm:
    initial = {"grace_minutes": standing.own_grace_minutes, "retention_days": standing.own_retention_days}
    return ArrearsTermsForm(data, initial=initial)
