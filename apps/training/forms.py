"""The form of a new run. It only translates: every rule stands in the service and in `command`."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.caps.selectors import cap_limit
from apps.common.errors import Invalid
from apps.common.forms import rows
from apps.common.money_fields import YuanField
from apps.common.tag_fields import TagsField
from apps.storage.choosing import chosen_of
from apps.storage.forms import MountsForm
from apps.training import command
from apps.training.models import Entry, Run
from apps.training.selectors import code_text
from apps.training.services import Request, clean_name
from apps.workloads.launching.form import LaunchForm, new_key
from apps.workloads.offers.cap_quote import yuan_text
from apps.workloads.offers.package_options import also_of, chosen_package_id


class Source:
    """Where the code comes from."""

    WRITE, UPLOAD, PARENT = "write", "upload", "parent"


class RunForm(LaunchForm, MountsForm):
    """`arguments` and `environment` are tables of rows, read beside the fields."""

    field_order = ("name", "note", "image", "package", "source", "text", "code", "entry", "script", "priority")

    name = forms.CharField(label=_("Name"), max_length=80, error_messages={"required": _("Give the run a name.")})
    source = forms.ChoiceField(
        label=_("Where the code comes from"),
        choices=[
            (Source.WRITE, _("Write here")),
            (Source.UPLOAD, _("Upload files")),
            (Source.PARENT, _("From the last version")),
        ],
    )
    text = forms.CharField(
        label=_("Code"), required=False, strip=False, widget=forms.Textarea(attrs={"data-code": "python", "rows": 14})
    )
    code = forms.UUIDField(label=_("Uploaded files"), required=False, widget=forms.HiddenInput)
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
    parent = forms.UUIDField(required=False, widget=forms.HiddenInput)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)
    # No inputs of their own: they carry what is wrong with the tables.
    arguments = forms.CharField(label=_("Arguments"), required=False)
    environment = forms.CharField(label=_("Environment variables"), required=False)

    def clean_name(self) -> str:
        try:
            return clean_name(self.cleaned_data["name"])
        except Invalid as error:
            raise forms.ValidationError(str(error.message)) from error

    def clean_script(self) -> str:
        script: str = self.cleaned_data["script"].strip()
        try:
            command.argv(Entry.PYTHON, script, ())
        except Invalid as error:
            raise forms.ValidationError(_("Name a file inside the code, such as train.py or src/train.py.")) from error
        return script

    def clean(self) -> dict[str, Any]:
        self._check("arguments", command.clean_arguments)
        self._check("environment", command.clean_environment)
        if self.cleaned_data.get("source") == Source.UPLOAD and not self.cleaned_data.get("code"):
            self.add_error("code", _("Upload files, or write the code in the page."))
        return self.cleaned_data

    def _check(self, name: str, check: Any) -> None:
        try:
            check(rows(self.data, name))  # type: ignore[arg-type]
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
            code_id=data["code"] if source == Source.UPLOAD else None,
            arguments=rows(self.data, "arguments"),  # type: ignore[arg-type]
            environment=rows(self.data, "environment"),  # type: ignore[arg-type]
            parent_id=data["parent"],
            mounts=self.chosen(),
            priority=data["priority"],
        )

    def offer_priorities(self, most: int) -> None:
        """Only those that the person may use, their highest first."""
        field: Any = self.fields["priority"]
        field.choices = [(number, str(number)) for number in range(most, 0, -1)]

    def argument_rows(self) -> list[tuple[str, str]]:
        """Rows to show: as typed, or as they were set at first."""
        return self._rows("arguments")

    def environment_rows(self) -> list[tuple[str, str]]:
        return self._rows("environment")

    def _rows(self, name: str) -> list[tuple[str, str]]:
        if self.is_bound:
            return list(rows(self.data, name))  # type: ignore[arg-type]
        return [(first, second) for first, second in self.initial.get(name, [])]


def initial_of(run: Run, *, as_version: bool) -> dict[str, object]:
    """The form's values from an earlier run. As a version, the new run continues that run's family."""
    text = code_text(run)
    return {
        "name": run.name,
        "note": run.note if as_version else "",
        "image": run.image_id,
        "package": chosen_package_id(run.workload),
        "also": list(also_of(run.workload)),
        "source": Source.WRITE if text is not None else Source.PARENT,
        "text": text or "",
        "entry": run.entry,
        "script": run.script,
        "arguments": run.arguments,
        "environment": run.environment,
        "mounts": chosen_of(run.workload.frozen_spec.mounts),
        "priority": run.workload.priority,
        "uninterruptible": not run.workload.frozen_spec.preemptible,
        "cluster": run.workload.frozen_spec.cluster,
        "cap": yuan_text(cap_limit(run.workload_id)),
        "tags": run.workload.tags,
        "parent": run.pk if as_version or text is None else None,
        "key": new_key(),
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
        help_text=_("In all, with what it has cost already. Empty: without a cap."),
    )


class RunTagsForm(forms.Form):
    """The tags of a run, changed at any time."""

    tags = TagsField()
