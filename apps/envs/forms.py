"""The form of a new environment and of its settings. It only translates: the rules stand in the services."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.envs.models import Environment
from apps.envs.policy import EnvironmentSettings
from apps.envs.services.changing import Change
from apps.envs.services.create import Request
from apps.envs.services.mounts import choices_of
from apps.envs.services.secrets import references
from apps.envs.services.shared import LONGEST_NAME, clean_name, launch_of
from apps.envs.shutdown_times import Shutdown, parse_when
from apps.secrets.choosing import chosen_of
from apps.secrets.forms import SecretsForm
from apps.storage.forms import MountsForm
from apps.workloads.launching.form import LaunchForm, launch_initial

NEVER = "never"
IDLE_MINUTES = (15, 30, 60, 120, 240, 480, 1440)
SNAPSHOT_MINUTES = (30, 60, 180, 360, 720, 1440)


class Whole(forms.TypedChoiceField):
    """A choice among numbers, or never (None)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=lambda value: None if value == NEVER else int(value), **kwargs)


class SettingsForm(LaunchForm, MountsForm, SecretsForm):
    """What can be changed later too."""

    check_name = staticmethod(clean_name)
    field_order = (
        "name",
        "note",
        "image",
        "package",
        "cpu_package",
        "without_gpu",
        "vscode",
        "idle",
        "snapshot_minutes",
    )

    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the environment a name.")}
    )
    cpu_package = Whole(label=_("Package without a GPU"))
    without_gpu = forms.BooleanField(label=_("Start without the GPU"), required=False)
    vscode = forms.BooleanField(label=_("VS Code in the browser"), required=False)
    idle = Whole(label=_("Release when idle"))
    snapshot_minutes = Whole(label=_("Automatic snapshots"))

    def __init__(self, *args: Any, rules: EnvironmentSettings, cpu_packages: Iterable[Any] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rules = rules
        limit = rules.max_idle_minutes
        offered = [minutes for minutes in IDLE_MINUTES if not limit or minutes <= limit] or [limit]
        never = [] if limit else [(NEVER, _("Never"))]
        self._choices("idle", [*((minutes, after(minutes)) for minutes in offered), *never])
        self._choices("snapshot_minutes", [(NEVER, _("None")), *((each, every(each)) for each in SNAPSHOT_MINUTES)])
        self._choices("cpu_package", [(NEVER, _("None")), *cpu_packages])

    def _choices(self, name: str, choices: list[tuple[Any, Any]]) -> None:
        field: Any = self.fields[name]
        current = self.initial.get(name)
        known = {str(value) for value, _label in choices}
        if (
            current not in (None, NEVER) and str(current) not in known
        ):  # set through the API, or before the rules changed
            choices = [*choices, (current, after(int(current)) if name == "idle" else str(current))]
        field.choices = choices

    def settings_values(self) -> dict[str, Any]:
        """What it says for the services' requests, by their names; the form must be valid."""
        data = self.cleaned_data
        return {
            **self.launch_values(),
            "cpu_package_id": data["cpu_package"],
            "without_gpu": data["without_gpu"],
            "vscode": data["vscode"],
            "idle_minutes": data["idle"],
            "snapshot_minutes": data["snapshot_minutes"],
            "mounts": self.chosen(),
            "secrets": self.chosen_secrets(),
        }

    def as_change(self) -> Change:
        return Change(**self.settings_values())


class NewForm(SettingsForm):
    duration_days = Whole(label=_("Keep it for"))
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._choices("duration_days", duration_choices(self.rules))

    def as_request(self) -> Request:
        """The service's request; the form must be valid."""
        data = self.cleaned_data
        return Request(**self.settings_values(), key=data["key"], duration_days=data["duration_days"])


class ShutdownForm(forms.Form):
    """When it is to stop. The page fills in the person's time zone."""

    when = forms.CharField(
        label=_("Stop it at, or in"),
        max_length=60,
        help_text=_("A time of day, such as 23:00, or a time from now, such as 90 min or 2 h."),
        error_messages={"required": _("Give a time of day, such as 23:00, or a time from now, such as 2 h.")},
    )
    daily = forms.BooleanField(label=_("Every day at this time"), required=False)
    zone = forms.CharField(max_length=64, widget=forms.HiddenInput(attrs={"data-time-zone": ""}))

    def shutdown(self) -> Shutdown:
        """The form must be valid. Raises `Invalid`."""
        data = self.cleaned_data
        return parse_when(data["when"], zone=data["zone"], daily=data["daily"])


class RenewForm(forms.Form):
    duration_days = Whole(label=_("Renew for"))

    def __init__(self, *args: Any, rules: EnvironmentSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["duration_days"]
        field.choices = duration_choices(rules)


def duration_choices(rules: EnvironmentSettings) -> list[tuple[Any, Any]]:
    unlimited = [(NEVER, _("Without an end"))] if rules.unlimited else []
    return [*((days, for_days(days)) for days in rules.durations_days), *unlimited]


def initial_of(environment: Environment) -> dict[str, Any]:
    """The form's values from an environment."""
    return {
        **launch_initial(launch_of(environment)),
        "cpu_package": environment.cpu_package_id or NEVER,
        "without_gpu": environment.without_gpu,
        "vscode": environment.vscode,
        "idle": environment.idle_minutes if environment.idle_minutes is not None else NEVER,
        "snapshot_minutes": environment.snapshot_minutes or NEVER,
        "mounts": choices_of(environment.mounts),
        "secrets": chosen_of(references(environment.secrets)),
    }


def after(minutes: int) -> str:
    return gettext("after %(time)s") % {"time": span(minutes)}


def every(minutes: int) -> str:
    return gettext("every %(time)s") % {"time": span(minutes)}


def span(minutes: int) -> str:
    if minutes % 60:
        return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    hours = minutes // 60
    return ngettext("%(count)s hour", "%(count)s hours", hours) % {"count": hours}


def for_days(days: int) -> str:
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": days}
