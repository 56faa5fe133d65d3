"""The form of how requests for packages are decided."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.review_settings import Approvers, ReviewSettings
from apps.console.forms.settings.base import SettingsForm


class ReviewForm(SettingsForm):
    group = ReviewSettings

    approvers = forms.ChoiceField(
        label=_("Who decides"),
        choices=[
            (Approvers.PLATFORM, _("The platform's staff")),
            (Approvers.ORGANISATION, _("Each organisation's administrators")),
        ],
        widget=forms.RadioSelect,
        help_text=_("The platform's staff may decide in either case."),
    )
    days = forms.IntegerField(
        label=_("An approval holds for"),
        required=False,
        min_value=1,
        max_value=3660,
        help_text=_("Empty: until it is taken back."),
    )

    def stored(self, name: str) -> Any:
        return Approvers(self.cleaned_data[name]) if name == "approvers" else super().stored(name)
