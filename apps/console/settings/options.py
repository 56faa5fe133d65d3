"""Registration and the options of environments: forms, pages and endpoints."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.common.access import requires
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import DaysField, SettingsForm
from apps.envs.policy import EnvironmentSettings
from apps.tenants.registration import RegistrationSettings

# Units that people use: how many of the stored unit one of theirs is.
SCALES = {"cpu_milli": 1000, "memory_mib": 1024, "gpu_milli": 1000, "storage_mib": 1024, "home_mib": 1024}
BOTH = ["GET", "POST"]


def limit(label: Any, **options: Any) -> forms.DecimalField:
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.DecimalField(
        label=label, required=False, min_value=0, max_value=10_000_000, decimal_places=3, widget=widget, **options
    )


class ScaledForm(SettingsForm):
    """Shows amounts in units that people use; empty is no limit."""

    def initial_of(self, current: Any) -> dict[str, Any]:
        values = super().initial_of(current)
        for name, scale in SCALES.items():
            if values.get(name) is not None:
                values[name] = f"{values[name] / scale:g}"
        return values

    def stored(self, name: str) -> Any:
        value = super().stored(name)
        if name in SCALES and value is not None:
            return int(value * SCALES[name])
        return int(value) if isinstance(self.fields[name], forms.DecimalField) and value is not None else value


class RegistrationForm(ScaledForm):
    group = RegistrationSettings

    open = forms.BooleanField(label=_("Anyone may register an account"), required=False)
    domains = forms.CharField(
        label=_("Only with addresses of"),
        required=False,
        max_length=2000,
        help_text=_("Domains with commas between, as in example.edu. The address must then be confirmed. Empty: any."),
    )
    verify_email = forms.BooleanField(label=_("The e-mail address must be confirmed first"), required=False)
    own_organisation = forms.BooleanField(
        label=_("A new person gets an organisation of their own"),
        required=False,
        help_text=_("Without one they wait for an invitation."),
    )
    cpu_milli = limit(_("CPU"))
    memory_mib = limit(_("Memory"))
    gpu_milli = limit(_("GPU cards"))
    runs = limit(_("Runs at a time"))
    environments = limit(_("Environments"))
    storage_mib = limit(_("Storage"))
    volumes = limit(_("Volumes"))

    def initial_of(self, current: Any) -> dict[str, Any]:
        return {**super().initial_of(current), "domains": ", ".join(current.domains)}

    def stored(self, name: str) -> Any:
        if name != "domains":
            return super().stored(name)
        text = self.cleaned_data["domains"].replace("，", ",").replace("\n", ",")
        return tuple(part.strip().lower().lstrip("@") for part in text.split(",") if part.strip())


class OptionsForm(ScaledForm):
    group = EnvironmentSettings

    durations_days = DaysField(
        label=_("Durations offered"), help_text=_("Days, with commas between, when one is created or renewed.")
    )
    duration_days = forms.IntegerField(label=_("Chosen at first"), min_value=0, max_value=3660)
    unlimited = forms.BooleanField(label=_("Without an end may be chosen as well"), required=False)
    idle_minutes = forms.IntegerField(label=_("Released when idle for"), min_value=0, max_value=527_040)
    max_idle_minutes = forms.IntegerField(
        label=_("Longest that may be chosen"),
        min_value=0,
        max_value=527_040,
        help_text=_("0: any time, and never."),
    )
    bin_days = forms.IntegerField(
        label=_("Kept in the bin"), min_value=1, max_value=3660, help_text=_("Deleted for good after that.")
    )
    home_mib = limit(_("Size of the home folder"))
    automatic_snapshots = forms.IntegerField(label=_("Automatic snapshots kept"), min_value=0, max_value=1000)


@requires(VIEW)
@require_GET
def first(request: StaffRequest) -> HttpResponse:
    return redirect("console:settings_registration")


@requires(VIEW)
@require_http_methods(BOTH)
def registration(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_registration", RegistrationForm, template="console/settings/registration.html")


@requires(VIEW)
@require_http_methods(BOTH)
def options(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_options", OptionsForm, template="console/settings/options.html")


class RegistrationOut(serializers.Serializer[Any]):
    """Limits of the organisation that a new person gets, in the units of quota; null: none."""

    open = serializers.BooleanField()
    own_organisation = serializers.BooleanField()
    verify_email = serializers.BooleanField()
    domains = serializers.ListField(child=serializers.CharField(max_length=253), max_length=100)
    cpu_milli = serializers.IntegerField(min_value=0, allow_null=True)
    memory_mib = serializers.IntegerField(min_value=0, allow_null=True)
    gpu_milli = serializers.IntegerField(min_value=0, allow_null=True)
    runs = serializers.IntegerField(min_value=0, allow_null=True)
    environments = serializers.IntegerField(min_value=0, allow_null=True)
    storage_mib = serializers.IntegerField(min_value=0, allow_null=True)
    volumes = serializers.IntegerField(min_value=0, allow_null=True)


class EnvironmentsOut(serializers.Serializer[Any]):
    """Minutes, days and MiB; 0: no limit, or never."""

    idle_minutes = serializers.IntegerField(min_value=0, max_value=527_040)
    max_idle_minutes = serializers.IntegerField(min_value=0, max_value=527_040)
    durations_days = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=3660), max_length=20)
    duration_days = serializers.IntegerField(min_value=0, max_value=3660)
    unlimited = serializers.BooleanField()
    bin_days = serializers.IntegerField(min_value=1, max_value=3660)
    home_mib = serializers.IntegerField(min_value=0, max_value=1 << 30)
    automatic_snapshots = serializers.IntegerField(min_value=0, max_value=1000)


@extend_schema(tags=TAGS, request=RegistrationOut, responses=RegistrationOut)
class Registration(SettingsView):
    group, serializer = RegistrationSettings, RegistrationOut


@extend_schema(tags=TAGS, request=EnvironmentsOut, responses=EnvironmentsOut)
class Environments(SettingsView):
    group, serializer = EnvironmentSettings, EnvironmentsOut
