"""The form of how work gives way to other work."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms.settings.base import SettingsForm
from apps.workloads.queueing.policy import MAX_SECONDS, QueueSettings


class QueueForm(SettingsForm):
    group = QueueSettings

    notice_s = forms.IntegerField(
        label=_("Notice"),
        min_value=0,
        max_value=MAX_SECONDS,
        help_text=_("From the notice until the program is asked to end (SIGTERM)."),
    )
    save_s = forms.IntegerField(
        label=_("Time to save"),
        min_value=10,
        max_value=MAX_SECONDS,
        help_text=_("From then until it is ended (SIGKILL)."),
    )
    min_runtime_s = forms.IntegerField(
        label=_("Left alone for at least"),
        min_value=0,
        max_value=MAX_SECONDS,
        help_text=_("What has run for less is not asked to give way."),
    )
    firm_over_guarantee = forms.BooleanField(
        label=_("Work that must not be interrupted is spared beyond guarantees too"),
        required=False,
        help_text=_(
            "Off: what an organisation holds beyond its guarantee goes back to another organisation's guarantee, also "
            "where its owner asked not to be interrupted. It holds for what runs already; notice and time to save stay."
        ),
    )
