"""Where an image goes, in forms that bring one into the registry. They only translate: `placing` has the rules."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.registry.distribution.names import own_part

MINE, ORGANISATION = "mine", "organisation"
PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


class PlaceForm(forms.Form):
    """`namespaces`: how the repositories begin that it may go to: the actor's, and the organisation's if they may."""

    whose = forms.ChoiceField(label=_("Belongs to"), required=False)
    name = forms.CharField(
        label=_("Repository"),
        max_length=150,
        widget=forms.TextInput(attrs=PLAIN),
        error_messages={"required": _("Give the repository a name.")},
    )
    tag = forms.CharField(
        label=pgettext_lazy("of an image", "Tag"), max_length=128, required=False, widget=forms.TextInput(attrs=PLAIN)
    )

    def __init__(self, *args: Any, actor: Actor, **options: Any) -> None:
        super().__init__(*args, **options)
        organisation, person = own_part(actor.person(), actor.organisation())
        self.namespaces = [f"{organisation}/{person}/"]
        whose: Any = self.fields["whose"]
        whose.choices = [(MINE, _("Me: %(name)s/…") % {"name": f"{organisation}/{person}"})]
        if actor.may(Permission.IMAGES_MANAGE):
            self.namespaces.append(f"{organisation}/")
            whose.choices.append((ORGANISATION, _("The organisation: %(name)s/…") % {"name": organisation}))
        else:
            del self.fields["whose"]

    def place(self) -> dict[str, Any]:
        """What services take of it. The form must be valid."""
        data = self.cleaned_data
        return {"name": data["name"], "tag": data["tag"], "of_organisation": data.get("whose") == ORGANISATION}
