"""Forms of services. They only translate: every rule stands in `drafts` and the services."""

import shlex
from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.errors import Invalid
from apps.modelhub.models import ModelVersion
from apps.serving.changing import Settings, clean_origins
from apps.serving.choices import LONGEST_NAME, MOST_SCRIPT, Runtime
from apps.serving.drafts import (
    HIGHEST_PORT,
    LOWEST_PORT,
    MOST_AT_A_TIME,
    MOST_BODY_MIB,
    MOST_SMOKE,
    MOST_TIMEOUT_S,
    Draft,
    check_script,
)
from apps.serving.models import Service, ServiceVersion
from apps.serving.program import READY
from apps.serving.scaling.bounds import MOST_PATIENCE_MIN, MOST_TARGET
from apps.serving.scaling.deciding import Bounds
from apps.serving.services import clean_name
from apps.serving.versions import chosen_of
from apps.storage.forms import MountsForm
from apps.workloads.launching.form import LaunchForm, new_key
from apps.workloads.launching.request import Launch
from apps.workloads.replicas.services import MOST_REPLICAS

EXAMPLE = '''"""Loaded once for each replica; predict answers one request."""


def load():
    """What predict is given as its first argument: read your model here, such as from /volumes/<name>."""
    return {"factor": 2.0}


def predict(model, inputs):
    """inputs: the JSON that was sent. The answer is sent as JSON; what is yielded is streamed."""
    return {"outputs": [model["factor"] * value for value in inputs["inputs"]]}
'''


class ServiceForm(LaunchForm, MountsForm):
    """A service's first version, or its next one. `members`: how many replicas, by the name that quotes read."""

    check_name = staticmethod(clean_name)
    field_order = ("name", "runtime", "model", "script", "command", "image", "package", "members")

    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the service a name.")}
    )
    runtime = forms.ChoiceField(label=_("What answers"), choices=Runtime.choices)
    script = forms.CharField(
        label=_("Script"),
        required=False,
        strip=False,
        max_length=MOST_SCRIPT,
        widget=forms.Textarea(attrs={"data-code": "python", "rows": 16}),
    )
    model = forms.UUIDField(
        label=pgettext_lazy("learned", "Model"),
        required=False,
        widget=forms.Select,
        help_text=_("The version that it serves, read-only at /model; PLSTACK_MODEL names the folder."),
    )
    command = forms.CharField(
        label=_("Command"),
        required=False,
        max_length=4000,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
        help_text=_("It has to listen on 127.0.0.1 and to end when it is asked to (SIGTERM)."),
    )
    port = forms.IntegerField(
        label=_("Port"), min_value=LOWEST_PORT, max_value=HIGHEST_PORT, required=False, initial=8080
    )
    health_path = forms.CharField(
        label=_("Health check"),
        max_length=200,
        required=False,
        initial=READY,
        help_text=_("A path that answers with 200 to 299 once requests may come."),
    )
    members = forms.IntegerField(label=_("Replicas"), min_value=1, max_value=MOST_REPLICAS, initial=1)
    at_a_time = forms.IntegerField(
        label=_("Calls at a time"),
        min_value=1,
        max_value=MOST_AT_A_TIME,
        initial=1,
        help_text=_("So many calls of predict run at once in one replica; 1 where the model allows no more."),
    )
    timeout_s = forms.IntegerField(
        label=_("Longest wait, seconds"),
        min_value=1,
        max_value=MOST_TIMEOUT_S,
        initial=60,
        help_text=_("For the beginning of an answer, and between two pieces of one that is streamed."),
    )
    body_limit_mib = forms.IntegerField(
        label=_("Largest request, MiB"), min_value=1, max_value=MOST_BODY_MIB, initial=16
    )
    repeatable = forms.BooleanField(
        label=_("A request may be sent again"),
        required=False,
        initial=True,
        help_text=_(
            "To another replica, if the one that had it breaks off before it answers. Off where an answer changes "
            "something."
        ),
    )
    smoke_path = forms.CharField(
        label=_("Smoke request"),
        max_length=200,
        required=False,
        help_text=_("Sent to a new version before it takes over; it has to answer with 200 to 299. Empty: none."),
    )
    smoke_body = forms.CharField(
        label=_("Its JSON"), required=False, max_length=MOST_SMOKE, widget=forms.Textarea(attrs={"rows": 4})
    )
    version_note = forms.CharField(label=_("What is new in this version"), max_length=200, required=False)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """The script is judged beside all else, so that nobody mends a form twice."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("runtime") == Runtime.SCRIPT:
            try:
                check_script(data.get("script", ""))
            except Invalid as error:
                self.add_error("script", str(error.message))
        return data

    def as_draft(self) -> Draft:
        """The form must be valid."""
        data = self.cleaned_data
        names = (
            "script",
            "command",
            "at_a_time",
            "timeout_s",
            "body_limit_mib",
            "repeatable",
            "smoke_path",
            "smoke_body",
        )
        return Draft(
            runtime=Runtime(data["runtime"]),
            image_id=data["image"],
            model_id=data["model"],
            mounts=self.chosen(),
            port=data["port"] or 8080,
            health_path=data["health_path"] or READY,
            note=data["version_note"],
            **{name: data[name] for name in names},
        )

    def offer(self, versions: Iterable[ModelVersion]) -> None:
        """Let it serve one of these."""
        choices = [(str(each.pk), f"{each} · {each.get_format_display()}") for each in versions]
        self.fields["model"].widget.choices = [("", _("None: the script or the image brings its own")), *choices]

    def as_launch(self) -> Launch:
        data = self.cleaned_data
        names = ("name", "note", "tags", "key")
        return Launch(
            **{name: data[name] for name in names},
            image_id=data["image"],
            package_id=data["package"],
            preemptible=not data["uninterruptible"],
            cluster_id=data["cluster"],
            cap_fen=data["cap"],
        )


def initial_of(service: Service, version: ServiceVersion) -> dict[str, Any]:
    """The form's values for the next version."""
    names = ("runtime", "port", "health_path", "at_a_time", "timeout_s", "body_limit_mib", "repeatable", "smoke_path",
             "smoke_body")  # fmt: skip
    return {
        **{name: getattr(version, name) for name in names},
        "name": service.name,
        "script": version.script or EXAMPLE,
        "command": shlex.join(version.argv),
        "image": version.image_id,
        "model": version.model_id,
        "package": service.package_id,
        "members": service.replicas,
        "mounts": chosen_of(version),
        "key": new_key(),
    }


class SettingsForm(forms.Form):
    note = forms.CharField(label=_("Note"), max_length=200, required=False)
    cors_origins = forms.CharField(
        label=_("Pages that may call it"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "https://app.example.com"}),
        help_text=_("Origins, one a line; * for any. Programs outside of browsers need none."),
    )
    stops_at = forms.DateTimeField(
        label=_("Stop at"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=_("It is stopped by itself then. Empty: it runs until somebody stops it."),
    )

    back_at_percent = forms.IntegerField(
        label=_("Go back by itself, from % of errors"),
        required=False,
        min_value=1,
        max_value=100,
        help_text=_(
            "A new version is watched for ten minutes, from 20 answers on; where so many of them fail, the version of "
            "before gets ready and takes over. Empty: never."
        ),
    )

    def clean_cors_origins(self) -> tuple[str, ...]:
        try:
            return clean_origins(self.cleaned_data["cors_origins"].splitlines())
        except Invalid as error:
            raise forms.ValidationError(str(error.message)) from error

    def settings(self) -> Settings:
        data = self.cleaned_data
        return Settings(data["note"], data["cors_origins"], data["stops_at"], data["back_at_percent"])


class ScalingForm(forms.Form):
    least = forms.IntegerField(label=_("Replicas, at least"), min_value=1, max_value=MOST_REPLICAS)
    most = forms.IntegerField(label=_("Replicas, at most"), min_value=1, max_value=MOST_REPLICAS)
    target = forms.IntegerField(
        label=_("Requests in flight for each replica"),
        min_value=1,
        max_value=MOST_TARGET,
        help_text=_("When there are more on average, it gets more replicas at once."),
    )
    patience_min = forms.IntegerField(
        label=_("Minutes before it has fewer"),
        min_value=1,
        max_value=MOST_PATIENCE_MIN,
        help_text=_("For so long fewer have to suffice; what they work on is finished."),
    )

    def bounds(self) -> Bounds:
        return Bounds(**self.cleaned_data)


class AskForm(forms.Form):
    """A request from the test page."""

    path = forms.CharField(label=_("Path"), max_length=200, initial="/predict")
    body = forms.CharField(
        label=_("JSON"),
        required=False,
        max_length=1024 * 1024,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "data-code": "json"}),
    )
