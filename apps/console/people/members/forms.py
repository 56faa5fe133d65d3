"""The form that adds a member. Every rule stands in the services."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.console.kit.fields import PRIORITIES
from apps.tenants.choices import Role
from apps.tenants.services import Person

NEW, EXISTING = "new", "existing"


class MemberForm(forms.Form):
    """A new person with an account of their own, or somebody who has one already."""

    who = forms.ChoiceField(
        label=_("Person"),
        choices=[(NEW, _("A new person")), (EXISTING, _("Somebody with an account"))],
        initial=NEW,
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label=_("User name"), max_length=150)
    name = forms.CharField(label=pgettext_lazy("person", "Name"), max_length=80, required=False)
    email = forms.CharField(label=_("E-mail"), max_length=254, required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.MEMBER)
    priority = forms.TypedChoiceField(label=_("Priority in the queue"), choices=PRIORITIES, coerce=int, initial=3)

    @property
    def is_new(self) -> bool:
        return bool(self.cleaned_data["who"] == NEW)

    def person(self) -> Person:
        data = self.cleaned_data
        return Person(username=data["username"], email=data["email"], name=data["name"])
