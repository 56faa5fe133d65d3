"""Forms about accounts, the platform's staff and their roles, and an organisation's terms."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.money_fields import YuanField
from apps.common.permissions import Permission
from apps.tenants.choices import PlatformRole
from apps.tenants.models import DefinedPlatformRole
from apps.tenants.permission_words import words_for
from apps.tenants.services import Person

ALL, LISTED = "all", "listed"


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


class StaffForm(GiveRoleForm):
    """A new account among the platform's staff, or somebody who has one."""

    who = forms.ChoiceField(
        label=_("Person"),
        choices=[("new", _("A new account")), ("existing", _("Somebody with an account"))],
        initial="new",
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label=_("User name"), max_length=254)
    name = forms.CharField(label=_("Name"), max_length=80, required=False)
    email = forms.CharField(label=_("E-mail"), max_length=254, required=False)
    field_order = ("who", "username", "name", "email", "role")

    def person(self) -> Person:
        data = self.cleaned_data
        return Person(username=data["username"], email=data["email"], name=data["name"])


class PlatformRoleForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    permissions = forms.MultipleChoiceField(
        choices=[(each.value, words_for(each)) for each in Permission],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )


class TermsForm(forms.Form):
    """`credit_limit` only for who may recharge."""

    weight = forms.IntegerField(
        label=_("Weight"),
        min_value=1,
        max_value=100,
        help_text=_("Its share of what is free, relative to other organisations'."),
    )
    credit_limit = YuanField(
        label=_("Credit limit"), help_text=_("How far the wallet may go below zero before compute is stopped.")
    )

    def __init__(self, data: Any = None, *, money: bool, **options: Any) -> None:
        super().__init__(data, **options)
        if not money:
            del self.fields["credit_limit"]


class PackagesForm(forms.Form):
    which = forms.ChoiceField(
        label=_("May use"),
        choices=[(ALL, _("All packages")), (LISTED, _("Only those ticked"))],
        widget=forms.RadioSelect,
    )
    packages = forms.ModelMultipleChoiceField(queryset=Package.objects.none(), required=False)

    def __init__(self, data: Any = None, *, actor: Actor, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["packages"].queryset = funds.packages(actor)  # type: ignore[attr-defined]

    def ids(self) -> list[int] | None:
        """None: all."""
        if self.cleaned_data["which"] == ALL:
            return None
        return [package.pk for package in self.cleaned_data["packages"]]
