"""The form of a new build. It only translates: every rule stands in `recipe`, `plan` and the service."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.builds.recipe import Recipe
from apps.builds.services import LONGEST_NAME, Order, clean_name
from apps.common.errors import Invalid
from apps.registry.models import Image
from apps.workloads.launching.form import LaunchForm
from apps.workloads.launching.request import Launch

NO_IMAGE = UUID(int=0)


class Source:
    """What says what is built."""

    FORM, CONTAINERFILE = "form", "containerfile"


class BuildForm(LaunchForm):
    check_name = staticmethod(clean_name)
    image = None  # type: ignore[assignment]  # `base` or FROM names it
    field_order = (
        "name",
        "source",
        "base",
        "apt",
        "pip",
        "commands",
        "containerfile",
        "target",
        "tag",
        "for_organisation",
        "package",
    )

    name = forms.CharField(
        label=_("Name of the image"), max_length=LONGEST_NAME, error_messages={"required": _("Give the image a name.")}
    )
    source = forms.ChoiceField(
        label=_("How it is described"),
        choices=[(Source.FORM, _("Fill in a form")), (Source.CONTAINERFILE, _("Write a Containerfile"))],
    )
    base = forms.ModelChoiceField(
        label=_("Base image"),
        queryset=Image.objects.none(),
        required=False,
        error_messages=dict.fromkeys(("required", "invalid_choice"), _("Choose one of the images.")),
    )
    apt = forms.CharField(
        label=_("Debian packages"),
        required=False,
        max_length=4000,
        help_text=_("Names with spaces between, as apt-get knows them. The base has to be Debian or Ubuntu."),
    )
    pip = forms.CharField(
        label=_("Python packages"),
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("One a line, such as numpy==2.3.5. The base has to have python3 with pip."),
    )
    commands = forms.CharField(
        label=_("Commands"),
        required=False,
        max_length=16000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=_("One a line; each runs as root of the image."),
    )
    containerfile = forms.CharField(
        label=_("Containerfile"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"data-code": "dockerfile", "rows": 14, "spellcheck": "false"}),
    )
    target = forms.CharField(
        label=_("Stage"),
        required=False,
        max_length=60,
        help_text=_("The stage to build, by its name or number. Empty: the last."),
    )
    tag = forms.CharField(
        label=_("Tag"),
        required=False,
        max_length=128,
        help_text=_("What this version is called in the registry. Empty: the next number."),
    )
    for_organisation = forms.BooleanField(
        label=_("Into the organisation's images, for everybody there"),
        required=False,
        help_text=_("Otherwise it goes into your own, which only you see until you share them."),
    )
    without_cache = forms.BooleanField(
        label=_("Build without the cache"),
        required=False,
        help_text=_("Each step is carried out, also those that an earlier build of the organisation has done already."),
    )
    folder = forms.UUIDField(label=_("Uploaded files"), required=False, widget=forms.HiddenInput)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, bases: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["base"]
        field.queryset = bases
        field.required = self["source"].value() != Source.CONTAINERFILE

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("source") != Source.FORM or data.get("base") is None:
            return data
        try:
            data["containerfile"] = self._recipe().containerfile()
        except Invalid as error:
            for name, message in error.fields.items() or [(None, error.message)]:
                self.add_error(name, str(message))
        return data

    def _recipe(self) -> Recipe:
        data = self.cleaned_data
        return Recipe(
            base=data["base"].reference,
            apt=data.get("apt", "").split(),
            pip=data.get("pip", "").splitlines(),
            commands=data.get("commands", "").splitlines(),
            has_files=bool(data.get("folder")),
        )

    def as_order(self) -> Order:
        """The form must be valid."""
        data = self.cleaned_data
        where = (data["tag"], data["for_organisation"], self._target())
        return Order(data["containerfile"], data["folder"], *where, without_cache=data["without_cache"])

    def _target(self) -> str:
        is_written = self.cleaned_data["source"] == Source.CONTAINERFILE
        return str(self.cleaned_data["target"]).strip() if is_written else ""

    def as_launch(self) -> Launch:
        self.cleaned_data["image"] = NO_IMAGE
        return Launch(**self.launch_values(), key=self.cleaned_data["key"])
