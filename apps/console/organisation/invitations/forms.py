"""The form of an invitation. Every rule stands in the services."""

from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.console.kit.organisation_choices import department_choices, role_choices, uuid_of
from apps.tenants.choices import Role
from apps.tenants.services.invitations import Offer
from apps.tenants.services.members import Place

LINK, MAIL = "link", "mail"


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


class InvitationForm(forms.Form):
    how = forms.ChoiceField(
        label=pgettext_lazy("invitation", "How"),
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
        self.fields["own_role"].choices = role_choices(organisation_id)  # type: ignore[attr-defined]
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
            role=Role(data["role"]), own_role_id=uuid_of(data["own_role"]), department_id=uuid_of(data["department"])
        )
        if data["how"] == MAIL:
            return [Offer(place, email=address, days=data["days"]) for address in self.addresses()]
        return [Offer(place, max_uses=data["max_uses"] or 1, days=data["days"])]
