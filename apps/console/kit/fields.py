"""Fields that read organisations as people write them, strictly, and choices that several forms offer."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.console.kit.organisations import find_organisation
from apps.tenants.models import Organisation

PRIORITIES = [(5, _("5, goes first")), (4, "4"), (3, _("3, usual")), (2, "2"), (1, _("1, goes last"))]


class Completing(forms.TextInput):
    """A text field with a list of suggestions that the server narrows while one types."""

    template_name = "console/widgets/completing.html"

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        attrs: dict[str, Any] = super().build_attrs(base_attrs, extra_attrs)
        return {
            "autocomplete": "off",
            "list": f"{attrs.get('id', '')}-list",
            "hx-get": reverse("console:organisation_suggestions"),
            "hx-trigger": "focus once, input changed delay:200ms",
            "hx-target": "next datalist",
            "hx-swap": "innerHTML",
            # A filter bar around it has its own; these end what would be inherited.
            "hx-select": "unset",
            "hx-push-url": "false",
            "hx-sync": "this:replace",
            "hx-params": "*",
            **attrs,
        }


class OrganisationField(forms.CharField):
    """An organisation by its name, short name or id, cleaned to the organisation."""

    widget = Completing
    default_error_messages = {"unknown": _("There is no organisation with this name.")}

    def clean(self, value: Any) -> Organisation | None:
        text = super().clean(value)
        if not text:
            return None
        organisation = find_organisation(text)
        if organisation is None:
            raise ValidationError(self.error_messages["unknown"], code="unknown")
        return organisation
