"""Settings of nodes: the form, its page and its endpoint."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.common.access import requires
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import SettingsForm
from apps.workloads.hardware.policy import MOST_MINUTES, NodeSettings

BOTH = ["GET", "POST"]


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


@requires(VIEW)
@require_http_methods(BOTH)
def nodes(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_nodes", NodesForm, template="console/settings/nodes.html")


class NodesOut(serializers.Serializer[Any]):
    lost_after_minutes = serializers.IntegerField(
        min_value=0,
        max_value=MOST_MINUTES,
        help_text="Minutes of unbroken silence after which a machine is declared lost, at least 2; 0: by hand only.",
    )


@extend_schema(tags=TAGS, request=NodesOut, responses=NodesOut)
class Nodes(SettingsView):
    group, serializer = NodeSettings, NodesOut
