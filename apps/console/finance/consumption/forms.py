"""The filter bar of the consumption page."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.forms import day_field, search_box


class PeriodForm(forms.Form):
    q = forms.CharField(
        label=_("Organisation, workload, owner"),
        required=False,
        widget=search_box(),
    )
    since = day_field(_("From"), required=False)
    until = day_field(_("To"), required=False)
