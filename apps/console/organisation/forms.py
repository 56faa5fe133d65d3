"""Forms about an organisation's people. Every rule stands in the services."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.common.permissions import Permission
from apps.console.kit.fields import PRIORITIES
from apps.tenants import tree
from apps.tenants.choices import Role
from apps.tenants.models import Department, OrganisationRole
from apps.tenants.permission_words import words_for
from apps.tenants.services.invitations import Offer
from apps.tenants.services.members import Place

# A select of more than these is no help: beyond, the department is chosen from its own page.
DEPARTMENTS_SHOWN = 200
LINK, MAIL = "link", "mail"


def department_choices(
    organisation_id: UUID, none: Any, *, besides: Iterable[UUID] = (), chosen: str = ""
) -> list[tuple[str, Any]]:
    """Departments by their paths; `besides` are left out, `chosen` is there however many others there are."""
    rows = Department.objects.filter(organisation_id=organisation_id)
    ids = list(rows.order_by("name").values_list("pk", flat=True)[:DEPARTMENTS_SHOWN])
    if chosen:
        ids += rows.filter(pk=chosen).values_list("pk", flat=True)
    found = tree.paths(ids)
    left_out = set(besides)
    named = sorted(((str(pk), path) for pk, path in found.items() if pk not in left_out), key=lambda pair: pair[1])
    return [("", none), *named]


def _role_choices(organisation_id: UUID) -> list[tuple[str, Any]]:
    own = OrganisationRole.objects.filter(organisation_id=organisation_id).order_by("name")
    return [("", _("What the base role allows")), *((str(role.pk), role.name) for role in own)]


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _uuid(text: str) -> UUID | None:
    return UUID(text) if text else None


class PlaceForm(forms.Form):
    """A member's place. The base role gives the rank; an own role replaces what it allows."""

    role = forms.ChoiceField(
        label=_("Base role"),
        choices=Role.choices,
        help_text=_("Gives the rank: one changes only people of a lower one."),
    )
    own_role = forms.ChoiceField(label=_("Permissions"), required=False)
    department = forms.ChoiceField(label=_("Department"), required=False)
    priority = forms.TypedChoiceField(
        label=_("Priority in the queue"),
        choices=PRIORITIES,
        coerce=int,
        help_text=_("For what they submit from now on."),
    )
    weight = forms.IntegerField(
        label=_("Weight in the queue"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Their share of what the department gets, relative to the people beside them."),
    )

    def __init__(self, data: Any = None, *, organisation_id: UUID, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["own_role"].choices = _role_choices(organisation_id)  # type: ignore[attr-defined]
        now = self.initial.get("department", "")
        choices = department_choices(organisation_id, _("None"), chosen=now)
        self.fields["department"].choices = choices  # type: ignore[attr-defined]

    def place(self) -> Place:
        data = self.cleaned_data
        return Place(
            role=Role(data["role"]),
            own_role_id=_uuid(data["own_role"]),
            department_id=_uuid(data["department"]),
            priority=data["priority"],
            weight=data["weight"] or self.initial.get("weight", 1),
        )


class InvitationForm(forms.Form):
    how = forms.ChoiceField(
        label=_("How"),
        choices=[(LINK, _("A link to hand over")), (MAIL, _("By e-mail"))],
        initial=LINK,
        widget=forms.RadioSelect,
    )
    emails = forms.CharField(
        label=_("E-mail addresses"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("One on each line. Each gets a link of their own, which works for that address alone."),
    )
    max_uses = forms.IntegerField(
        label=_("For how many people"), min_value=1, max_value=1000, initial=1, required=False
    )
    days = forms.IntegerField(label=_("Works for, days"), min_value=1, max_value=90, initial=7)
    role = forms.ChoiceField(label=_("Base role"), choices=Role.choices, initial=Role.MEMBER)
    own_role = forms.ChoiceField(label=_("Permissions"), required=False)
    department = forms.ChoiceField(label=_("Department"), required=False)

    def __init__(self, data: Any = None, *, organisation_id: UUID, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["own_role"].choices = _role_choices(organisation_id)  # type: ignore[attr-defined]
        self.fields["department"].choices = department_choices(organisation_id, _("None"))  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("how") == MAIL and not self.addresses():
            self.add_error("emails", _("Give at least one address."))
        wrong = [address for address in self.addresses() if not _is_address(address)]
        if data.get("how") == MAIL and wrong:
            self.add_error("emails", str(format_lazy(_("{address} is not an e-mail address."), address=wrong[0])))
        if len(self.addresses()) > 100:
            self.add_error("emails", _("Give at most 100 addresses at a time."))
        return data

    def addresses(self) -> list[str]:
        parts = self.cleaned_data.get("emails", "").replace(",", "\n").replace(";", "\n").split()
        return list(dict.fromkeys(part.lower() for part in parts))

    def offers(self) -> list[Offer]:
        data = self.cleaned_data
        place = Place(
            role=Role(data["role"]), own_role_id=_uuid(data["own_role"]), department_id=_uuid(data["department"])
        )
        if data["how"] == MAIL:
            return [Offer(place, email=address, days=data["days"]) for address in self.addresses()]
        return [Offer(place, max_uses=data["max_uses"] or 1, days=data["days"])]


class DepartmentForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=80)


class DepartmentEditForm(DepartmentForm):
    weight = forms.IntegerField(
        label=_("Weight in the queue"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Its share of what the organisation gets, relative to the departments beside it."),
    )


class MoveForm(forms.Form):
    parent = forms.ChoiceField(label=_("Below"), required=False)

    def __init__(self, data: Any = None, *, organisation_id: UUID, besides: Iterable[UUID], **options: Any) -> None:
        super().__init__(data, **options)
        now = self.initial.get("parent", "")
        choices = department_choices(organisation_id, _("Nothing: at the top"), besides=besides, chosen=now)
        self.fields["parent"].choices = choices  # type: ignore[attr-defined]

    def parent_id(self) -> UUID | None:
        return _uuid(self.cleaned_data["parent"])


class RoleForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    permissions = forms.MultipleChoiceField(
        choices=[(each.value, words_for(each)) for each in Permission.every()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
