"""The form of an image of the platform. Every rule stands in the services."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.clusters.architectures import Architecture
from apps.console.kit.organisations import find_organisation
from apps.registry.models import Image
from apps.registry.ruling import MAX_REFERENCE, MAX_SORT, ImageSpec
from apps.tenants.models import Organisation

EVERYBODY, LISTED = "everybody", "listed"


class LinesField(forms.CharField):
    """A text of one item a line, cleaned to the lines that say something."""

    def __init__(self, rows: int, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "autocomplete": "off"})
        super().__init__(required=False, widget=widget, **kwargs)

    def clean(self, value: Any) -> list[str]:
        lines = (super().clean(value) or "").splitlines()
        return [line.strip() for line in lines if line.strip()]


class OrganisationsField(LinesField):
    """Organisations by name, short name or id, cleaned to them."""

    default_error_messages = {"unknown": _("There is no organisation named %(name)s.")}

    def clean(self, value: Any) -> list[Organisation]:  # type: ignore[override]
        return [self._one(line) for line in super().clean(value)]

    def _one(self, name: str) -> Organisation:
        found = find_organisation(name)
        if found is None:
            raise ValidationError(self.error_messages["unknown"], code="unknown", params={"name": name})
        return found


class ImageForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    description_en = forms.CharField(label=_("Description in English"), max_length=200)
    description_zh = forms.CharField(label=_("Description in Chinese"), max_length=200)
    requirements = LinesField(
        10,
        label=pgettext_lazy("software", "Packages"),
        help_text=_("One a line with its exact version, as in numpy==2.3.5. Empty: Python alone."),
    )
    reference = forms.CharField(
        label=_("Container image"),
        required=False,
        max_length=MAX_REFERENCE,
        help_text=_("Instead of packages: registry, repository and digest, as in lab:5000/team/torch@sha256:…"),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    architecture = forms.ChoiceField(
        label=_("Architecture"),
        required=False,
        choices=[("", _("Any")), *Architecture.choices],
        help_text=_(
            "Work with this image goes only to machines of this architecture. A container image says for which it is, "
            "and that holds wherever its registry answers the platform."
        ),
    )
    active = forms.BooleanField(label=_("On offer"), required=False, initial=True)
    audience = forms.ChoiceField(
        label=_("Who may use it"),
        choices=[(EVERYBODY, _("Every organisation")), (LISTED, _("Only the organisations listed"))],
        initial=EVERYBODY,
    )
    allowed = OrganisationsField(4, label=_("Organisations"), help_text=_("One a line, by name or short name."))
    sort = forms.IntegerField(
        label=_("Position"),
        initial=100,
        min_value=0,
        max_value=MAX_SORT,
        help_text=_("Small numbers stand first in the list."),
    )

    def spec(self) -> ImageSpec:
        data = self.cleaned_data
        listed = tuple(row.pk for row in data["allowed"]) if data["audience"] == LISTED else None
        return ImageSpec(
            name=data["name"],
            description_en=data["description_en"],
            description_zh=data["description_zh"],
            requirements=tuple(data["requirements"]),
            reference=data["reference"],
            sort=data["sort"],
            active=data["active"],
            architectures=tuple(data["architecture"].split()),
            allowed=listed,
        )


def initial_of(image: Image) -> dict[str, Any]:
    plain = ("name", "description_en", "description_zh", "reference", "active", "sort")
    return {
        **{name: getattr(image, name) for name in plain},
        "architecture": image.architectures[0] if len(image.architectures) == 1 else "",
        "requirements": "\n".join(image.requirements),
        "audience": LISTED if image.restricted else EVERYBODY,
        "allowed": "\n".join(row.slug for row in image.allowed.all()),
    }
