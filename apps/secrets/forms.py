"""Forms of secrets. They only translate: every rule stands in the services."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.secrets.choices import Scope
from apps.secrets.choosing import ChosenSecret, posted
from apps.secrets.services import NewSecret
from apps.tenants import tree
from apps.tenants.models import Department

DEPARTMENTS_SHOWN = 200


class SecretsForm(forms.Form):
    """A part of forms that start work. Which secrets it gives is read beside the fields: a table of rows."""

    secrets = forms.CharField(label=_("Secrets"), required=False)  # carries what is wrong with them

    def chosen_secrets(self) -> tuple[ChosenSecret, ...]:
        """As chosen in the page, or as they were set at first."""
        return posted(self.data) if self.is_bound else tuple(self.initial.get("secrets", ()))


class WriteOnly(forms.Textarea):
    """What was typed is not sent back, not even beside an error."""

    def __init__(self) -> None:
        off = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off", "rows": 4, "class": "pl-code"}
        super().__init__(attrs=off)

    def format_value(self, value: Any) -> str:
        return ""


class ValueField(forms.CharField):
    """The value as programs get it: browsers send CRLF, and a token that was copied often ends with a line feed."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Value"),
            strip=False,
            widget=WriteOnly,
            help_text=_("It is sealed when you save it and never shown again. Several lines are kept as they are."),
            error_messages={"required": _("Enter the value.")},
        )

    def to_python(self, value: Any) -> str:
        text = (super().to_python(value) or "").replace("\r\n", "\n")
        return text.removesuffix("\n") if text.count("\n") == 1 else text


class _Described(forms.Form):
    """`department` only where the secret is the organisation's."""

    description = forms.CharField(
        label=_("Description"), max_length=200, required=False, help_text=_("What it is for, and where it comes from.")
    )
    department = forms.ChoiceField(label=_("Used by"), required=False)

    def __init__(self, *args: Any, actor: Actor, scope: Scope, **options: Any) -> None:
        super().__init__(*args, **options)
        if scope is Scope.PERSONAL:
            del self.fields["department"]
        else:
            field: Any = self.fields["department"]
            field.choices = _departments(actor)

    def department_id(self) -> UUID | None:
        chosen = self.cleaned_data.get("department")
        return UUID(chosen) if chosen else None


class NewForm(_Described):
    field_order = ("name", "value", "description", "department")

    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        help_text=_("As programs read it: capital letters, digits and _."),
        widget=forms.TextInput(
            attrs={"placeholder": "HF_TOKEN", "autocomplete": "off", "spellcheck": "false", "class": "pl-code"}
        ),
    )
    value = ValueField()

    def new(self, scope: Scope) -> NewSecret:
        """The service's request; the form must be valid."""
        data = self.cleaned_data
        return NewSecret(scope, data["name"], data["value"], data["description"], self.department_id())


class DescribeForm(_Described):
    pass


class RotateForm(forms.Form):
    value = ValueField()


def _departments(actor: Actor) -> list[tuple[str, Any]]:
    rows = Department.objects.filter(organisation_id=actor.organisation()).order_by("name")
    paths = tree.paths(rows.values_list("pk", flat=True)[:DEPARTMENTS_SHOWN])
    named = sorted(((str(pk), path) for pk, path in paths.items()), key=lambda pair: pair[1])
    return [("", _("Everybody in the organisation")), *named]
