"""The form of when a machine counts as lost."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms.settings.base import SettingsForm
from apps.workloads.hardware.policy import MOST_MINUTES, NodeSettings


class NodesForm(SettingsForm):
    group = NodeSettings

    lost_after_minutes = forms.IntegerField(
        label=_("Lost after"),
        min_value=0,
        max_value=MOST_MINUTES,
        help_text=_(
            "Of unbroken silence, while the platform itself listened: 2 to 1440 minutes. 0: only an operator declares "
            "a machine lost."
        ),
    )
