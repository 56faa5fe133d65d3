"""The form of a new run. It only translates: every rule stands in the service and in `command`."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.durations import DurationField
from apps.common.errors import Invalid
from apps.common.forms import key_value_rows
from apps.common.money_fields import YuanField
from apps.common.tag_fields import TagsField
from apps.secrets.choosing import carried
from apps.secrets.forms import SecretsForm
from apps.storage.forms import MountsForm
from apps.training import command
from apps.training.arrays.forms import ArrayForm
from apps.training.forking import sees, takes_code, usable_mounts
from apps.training.git.origin import origin_of
from apps.training.launchers.forms import MembersForm
from apps.training.metric_forms import MetricsForm, metrics_initial
from apps.training.models import Entry, Run
from apps.training.selectors import code_text
from apps.training.services import LONGEST_NAME, Request, clean_name, request_of
from apps.workloads.launching.form import LaunchForm, launch_initial, new_key


class Source:
    """Where the code comes from."""

    WRITE, UPLOAD, GIT, PARENT = "write", "upload", "git", "parent"


class RunForm(ArrayForm, MembersForm, MetricsForm, LaunchForm, MountsForm, SecretsForm):
    """`arguments` and `environment` are tables of rows, read beside the fields."""

    check_name = staticmethod(clean_name)
    field_order = ("name", "note", "image", "package", "source", "text", "code", "entry", "script", "priority")

    name = forms.CharField(
        label=_("Name"), max_length=LONGEST_NAME, error_messages={"required": _("Give the run a name.")}
    )
    source = forms.ChoiceField(
        label=_("Where the code comes from"),
        choices=[
            (Source.WRITE, _("Write here")),
            (Source.UPLOAD, _("Upload files")),
            (Source.GIT, _("Git repository")),
            (Source.PARENT, _("From the last version")),
        ],
    )
    text = forms.CharField(
        label=_("Code"), required=False, strip=False, widget=forms.Textarea(attrs={"data-code": "python", "rows": 14})
    )
    code = forms.UUIDField(label=_("Uploaded files"), required=False, widget=forms.HiddenInput)
    git_code = forms.UUIDField(label=_("Git repository"), required=False, widget=forms.HiddenInput)
    entry = forms.ChoiceField(label=_("Kind of entry"), choices=Entry.choices)
    script = forms.CharField(
        label=_("Entry file"),
        max_length=200,
        error_messages={"required": _("Name the file to run.")},
        widget=forms.TextInput(attrs={"list": "script-files", "spellcheck": "false", "autocomplete": "off"}),
    )
    priority = forms.TypedChoiceField(
        label=_("Priority"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[(n, str(n)) for n in range(5, 0, -1)],
    )
    # Where the next version of another run begins: a value of `continuing.Start`.
    checkpoint = forms.CharField(label=_("Starts from"), required=False, max_length=300)
    parent = forms.UUIDField(required=False, widget=forms.HiddenInput)
    fork = forms.UUIDField(required=False, widget=forms.HiddenInput)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)
    # No inputs of their own: they carry what is wrong with the tables.
    arguments = forms.CharField(label=_("Arguments"), required=False)
    environment = forms.CharField(label=_("Environment variables"), required=False)

    def clean_script(self) -> str:
        script: str = self.cleaned_data["script"].strip()
        try:
            command.argv(Entry.PYTHON, script, ())
        except Invalid as error:
            raise forms.ValidationError(_("Name a file inside the code, such as train.py or src/train.py.")) from error
        return script

    def clean(self) -> dict[str, Any]:
        super().clean()
        self._check("arguments", command.clean_arguments)
        self._check("environment", command.clean_environment)
        if self.cleaned_data.get("source") == Source.UPLOAD and not self.cleaned_data.get("code"):
            self.add_error("code", _("Upload files, or write the code in the page."))
        return self.cleaned_data

    def _check(self, name: str, check: Any) -> None:
        try:
            check(key_value_rows(self.data, name))  # type: ignore[arg-type]
        except Invalid as error:
            self.add_error(name, str(error.message))

    def as_request(self) -> Request:
        """The service's request; the form must be valid."""
        data, source = self.cleaned_data, self.cleaned_data["source"]
        return Request(
            **self.launch_values(),
            entry=Entry(data["entry"]),
            script=data["script"],
            key=data["key"],
            text=data["text"] if source == Source.WRITE else None,
            code_id={Source.UPLOAD: data["code"], Source.GIT: data["git_code"]}.get(source),
            arguments=key_value_rows(self.data, "arguments"),  # type: ignore[arg-type]
            environment=key_value_rows(self.data, "environment"),  # type: ignore[arg-type]
            parent_id=data["parent"],
            fork_of=data["fork"],
            mounts=self.chosen(),
            secrets=self.chosen_secrets(),
            priority=data["priority"],
            metrics=self.metric_settings(),
            **self.chosen_members(),
        )

    def offer_priorities(self, most: int) -> None:
        """Only those that the person may use, their highest first."""
        self.most_priority = most
        field: Any = self.fields["priority"]
        field.choices = [(number, str(number)) for number in range(most, 0, -1)]

    def argument_rows(self) -> list[tuple[str, str]]:
        """Rows to show: as typed, or as they were set at first."""
        return self._rows("arguments")

    def environment_rows(self) -> list[tuple[str, str]]:
        return self._rows("environment")

    def _rows(self, name: str) -> list[tuple[str, str]]:
        if self.is_bound:
            return list(key_value_rows(self.data, name))  # type: ignore[arg-type]
        return [(first, second) for first, second in self.initial.get(name, [])]


def initial_of_clone(actor: Actor, run: Run) -> dict[str, object]:
    """The form's values for the next version of `run`: everything of it, and the run as its parent.

    A commit stays that commit, also where it is one file.
    """
    text, before = code_text(run) if origin_of(run.code) is None else None, request_of(run, key=new_key())
    return {
        **_settings_of(actor, run, before),
        "note": run.note,
        "source": Source.WRITE if text is not None else Source.PARENT,
        "text": text or "",
        "parent": run.pk,
    }


def initial_of_fork(actor: Actor, run: Run) -> dict[str, object]:
    """The form's values for a colleague's own run from the passport of `run`: what that shows and they may use."""
    before, has_code = request_of(run, key=new_key()), takes_code(actor, run)
    is_commit = origin_of(run.code) is not None
    text = code_text(run) if has_code and not is_commit else None
    source = Source.PARENT if has_code else Source.GIT if is_commit else Source.UPLOAD
    own = sees(actor, run)
    launched = launch_initial(replace(before, note="", tags=(), cap_fen=None, cluster_id=None))
    return {
        **launched,
        "source": Source.WRITE if text is not None else source,
        "text": text or "",
        "entry": run.entry,
        "script": run.script,
        "arguments": run.arguments,
        "environment": [(name, value if own else "") for name, value in run.environment],
        "mounts": usable_mounts(actor, run),
        "members": before.members,
        "least_members": before.least_members,
        "launcher": before.launcher,
        **metrics_initial(before.metrics),
        "fork": run.pk,
        "key": before.key,
    }


def initial_of_last(actor: Actor, run: Run) -> dict[str, object]:
    """The form's values for a run of its own, with the settings and the code of the actor's last one.

    Whatever tells runs apart stays empty: name, note, tags, parent.
    """
    is_commit = origin_of(run.code) is not None
    text, before = None if is_commit else code_text(run), request_of(run, key=new_key())
    field, source = ("git_code", Source.GIT) if is_commit else ("code", Source.UPLOAD)
    own_code = run.code.owner_id == actor.user_id
    return {
        **_settings_of(actor, run, before),
        "name": "",
        "tags": (),
        "source": Source.WRITE if text is not None else source,
        "text": text or "",
        field: run.code_id if text is None and own_code else None,
    }


def _settings_of(actor: Actor, run: Run, before: Request) -> dict[str, object]:
    """`secrets_anew`: those of its secrets that the actor has to choose anew."""
    secrets, anew = carried(actor, run.workload.frozen_spec.secrets)
    return {
        **launch_initial(before),
        "note": "",
        "entry": run.entry,
        "script": run.script,
        "arguments": run.arguments,
        "environment": run.environment,
        "mounts": before.mounts,
        "secrets": secrets,
        "secrets_anew": anew,
        "priority": before.priority,
        "members": before.members,
        "least_members": before.least_members,
        "launcher": before.launcher,
        **metrics_initial(before.metrics),
        "key": before.key,
    }


def initial_of_example(text: str, *, image: UUID | None, package: int | None) -> dict[str, object]:
    """A first run that works as it stands."""
    return {
        "name": "digits",
        "image": image,
        "package": package,
        "source": Source.WRITE,
        "text": text,
        "entry": Entry.PYTHON,
        "script": "train.py",
        "arguments": [("--epochs", "20"), ("--hidden", "64")],
        "environment": [],
        "key": new_key(),
    }


def initial_of_nothing(*, image: UUID | None, package: int | None, source: str) -> dict[str, object]:
    """An empty form with the first image and package chosen."""
    return {
        "image": image,
        "package": package,
        "source": source,
        "entry": Entry.PYTHON,
        "script": "train.py",
        "key": new_key(),
    }


class CapForm(forms.Form):
    """The most that a run may cost, changed while it lives."""

    cap = YuanField(
        label=_("It may cost at most"),
        required=False,
        max_length=20,
        help_text=_("In total, including what it has cost so far. Empty: no cap."),
    )


class LongestForm(forms.Form):
    """How long a run may run, changed while it lives."""

    longest = DurationField(
        label=_("Longest run time"),
        help_text=_("In total, including what it has run so far, such as 90 min, 2 h or 1 d 6 h. Empty: no limit."),
    )


class GpuIdleForm(forms.Form):
    """After how long without use of its cards a run is stopped, changed while it lives."""

    gpu_idle = DurationField(
        label=_("Stop when the GPU stands idle for"),
        help_text=_(
            "Such as 30 min, counted from now on. A card that cannot be measured counts as used. Empty: never."
        ),
    )

    def minutes(self) -> int | None:
        """The form must be valid."""
        seconds: int | None = self.cleaned_data["gpu_idle"]
        return None if seconds is None else -(-seconds // 60)


class RunTagsForm(forms.Form):
    """The tags of a run, changed at any time."""

    tags = TagsField()
