"""Settings of the queue: the form, its page and its endpoint."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.common.access import requires
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import SettingsForm
from apps.workloads.queueing.policy import MAX_SECONDS, QueueSettings


class QueueForm(SettingsForm):
    group = QueueSettings

    notice_s = forms.IntegerField(
        label=pgettext_lazy("giving way", "Notice"),
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


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def queue(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_queue", QueueForm, template="console/settings/queue.html")


class QueueOut(serializers.Serializer[Any]):
    """Seconds: notice before work is asked to end, time to save, and how long it is left alone at first."""

    notice_s = serializers.IntegerField(min_value=0, max_value=MAX_SECONDS)
    save_s = serializers.IntegerField(min_value=10, max_value=MAX_SECONDS)
    min_runtime_s = serializers.IntegerField(min_value=0, max_value=MAX_SECONDS)
    firm_over_guarantee = serializers.BooleanField(
        help_text="Work that must not be interrupted is spared beyond its organisation's guarantee too."
    )


@extend_schema(tags=TAGS, request=QueueOut, responses=QueueOut)
class Queue(SettingsView):
    group, serializer = QueueSettings, QueueOut
