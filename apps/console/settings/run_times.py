"""Settings of run times: the longest that work runs in organisations without a limit of their own."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.common.access import requires
from apps.common.durations import DurationField, duration_text
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import SettingsForm
from apps.workloads import kinds
from apps.workloads.run_times import LEAST_S, MOST_S
from apps.workloads.time_limits import RunTimeSettings

BOTH = ["GET", "POST"]


class RunTimesForm(SettingsForm):
    """A field for each kind of work; empty: however long."""

    group = RunTimeSettings
    current: RunTimeSettings

    def __init__(self, *args: Any, editable: bool = True, **options: Any) -> None:
        super().__init__(*args, editable=editable, **options)
        for rules in kinds.every():
            self.fields[rules.name] = DurationField(
                label=rules.label,
                disabled=not editable,
                initial=duration_text(self.current.longest_s.get(rules.name)),
                help_text=_("Such as 90 min, 2 h or 1 d 6 h. Empty: without a limit."),
            )

    def value(self) -> RunTimeSettings:
        given = {rules.name: self.cleaned_data.get(rules.name) for rules in kinds.every()}
        return RunTimeSettings({kind: seconds for kind, seconds in given.items() if seconds is not None})


@requires(VIEW)
@require_http_methods(BOTH)
def run_times(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_run_times", RunTimesForm, template="console/settings/run_times.html")


class RunTimesOut(serializers.Serializer[Any]):
    """Of organisations without a limit of their own; a kind that is missing has none."""

    longest_s = serializers.DictField(
        child=serializers.IntegerField(min_value=LEAST_S, max_value=MOST_S), help_text="Seconds by kind of work."
    )


@extend_schema(tags=TAGS, request=RunTimesOut, responses=RunTimesOut)
class RunTimes(SettingsView):
    group, serializer = RunTimeSettings, RunTimesOut
