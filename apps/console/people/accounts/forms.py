"""Forms about accounts and the platform's staff."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.tenants.choices import PlatformRole
from apps.tenants.models import DefinedPlatformRole
from apps.tenants.services import Person


def role_choices() -> list[tuple[str, Any]]:
    """Base roles by their code, defined ones by their id."""
    defined = DefinedPlatformRole.objects.order_by("name")
    return [*PlatformRole.choices, *((str(role.pk), role.name) for role in defined)]


def chosen_role(value: str) -> dict[str, Any]:
    """Keyword arguments of `assign_platform_role` for a value of `role_choices`."""
    return {"role": PlatformRole(value)} if value in PlatformRole.values else {"defined_id": UUID(value)}


class GiveRoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"))

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["role"].choices = role_choices()  # type: ignore[attr-defined]


class DetailsForm(forms.Form):
    """What is known of somebody beside their user name, which stays."""

    name = forms.CharField(label=pgettext_lazy("person", "Name"), max_length=80, required=False)
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        help_text=_("A new address has to be confirmed by its owner. The former one is told."),
        error_messages={"invalid": _("This is not an e-mail address.")},
    )


class StaffForm(GiveRoleForm):
    """A new account among the platform's staff, or somebody who has one."""

    who = forms.ChoiceField(
        label=_("Person"),
        choices=[("new", _("A new account")), ("existing", _("Somebody with an account"))],
        initial="new",
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label=_("User name"), max_length=254)
    name = forms.CharField(label=pgettext_lazy("person", "Name"), max_length=80, required=False)
    email = forms.CharField(label=_("E-mail"), max_length=254, required=False)
    field_order = ("who", "username", "name", "email", "role")

    def person(self) -> Person:
        data = self.cleaned_data
        return Person(username=data["username"], email=data["email"], name=data["name"])
