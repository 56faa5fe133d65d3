"""Forms about organisations and their people. Every rule stands in the services."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.tenants.choices import Role
from apps.tenants.services import Person

NEW, EXISTING = "new", "existing"
PRIORITIES = [(5, _("5, goes first")), (4, "4"), (3, _("3, usual")), (2, "2"), (1, _("1, goes last"))]


class OrganisationForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("As its people know it, unique on the platform.")
    )
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=40,
        required=False,
        help_text=_("Lower-case letters, digits and dashes. Empty: made from the name."),
    )


class MemberForm(forms.Form):
    """A new person with an account of their own, or somebody who has one already."""

    who = forms.ChoiceField(
        label=_("Person"),
        choices=[(NEW, _("A new person")), (EXISTING, _("Somebody with an account"))],
        initial=NEW,
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label=_("User name"), max_length=150)
    name = forms.CharField(label=_("Name"), max_length=80, required=False)
    email = forms.CharField(label=_("E-mail"), max_length=254, required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.MEMBER)
    priority = forms.TypedChoiceField(label=_("Priority in the queue"), choices=PRIORITIES, coerce=int, initial=3)

    @property
    def is_new(self) -> bool:
        return bool(self.cleaned_data["who"] == NEW)

    def person(self) -> Person:
        data = self.cleaned_data
        return Person(username=data["username"], email=data["email"], name=data["name"])
