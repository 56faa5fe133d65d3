"""Forms of API tokens and SSH keys. They only translate: every rule stands in `tokens` and `ssh_keys`."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.permissions import Permission
from apps.tenants.actors import memberships, platform_permissions
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import User
from apps.tenants.permission_words import grouped, words_for
from apps.tenants.tokens import Lifetime, TokenDraft, grantable

CONSOLE = "console"
LIFETIMES = [
    (Lifetime.MONTH.value, _("30 days")),
    (Lifetime.QUARTER.value, _("90 days")),
    (Lifetime.YEAR.value, _("One year")),
    (Lifetime.NEVER.value, _("Never ends by itself")),
]


class TokenForm(forms.Form):
    """`place` decides which permissions are on offer: those that the person holds there now."""

    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        help_text=_("What uses it, for example “nightly training”."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": _("Give the token a name, so that you know later what it is for.")},
    )
    place = forms.ChoiceField(label=_("Access to"))
    lifetime = forms.ChoiceField(label=_("Ends after"), choices=LIFETIMES, initial=Lifetime.QUARTER.value)
    permissions = forms.MultipleChoiceField(
        label=_("May"),
        error_messages={"required": _("Choose at least one thing that the token may do.")},
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Any = None, *, user: User, place: str = "") -> None:
        super().__init__(data)
        places = places_of(user)
        self.fields["place"].choices = places  # type: ignore[attr-defined]
        known = [value for value, _label in places]
        asked = str((data.get("place") if data else place) or "")
        self.chosen_place: str = asked if asked in known else next(iter(known), CONSOLE)
        self.fields["place"].initial = self.chosen_place
        self.held = grantable(user, organisation_of(self.chosen_place)) if known else frozenset()
        self.fields["permissions"].choices = [(p.value, words_for(p)) for p in self.held]  # type: ignore[attr-defined]

    def groups(self) -> list[dict[str, Any]]:
        """Headings with their check boxes; at first what only reads is chosen."""
        chosen = (
            set(self["permissions"].value() or ())
            if self.is_bound
            else {p for p in self.held if p.rpartition(".")[2].startswith("view")}
        )
        return [
            {
                "label": group.label,
                "boxes": [
                    {"value": p.value, "words": words_for(p), "on": p.value in chosen} for p in group.permissions
                ],
            }
            for group in grouped(self.held)
        ]

    def draft(self) -> TokenDraft:
        values = self.cleaned_data
        return TokenDraft(
            name=values["name"],
            organisation_id=organisation_of(values["place"]),
            permissions=frozenset(Permission(name) for name in values["permissions"]),
            lifetime=Lifetime(values["lifetime"]),
        )


def places_of(user: User) -> list[tuple[str, Any]]:
    """Where a token of this person may reach: each working organisation of theirs, and the console for staff."""
    mine = [
        (str(each.organisation_id), each.organisation.name)
        for each in memberships(user)
        if each.organisation.status == OrganisationStatus.ACTIVE
    ]
    return [*mine, (CONSOLE, pgettext_lazy("console", "Console"))] if platform_permissions(user) else mine


def organisation_of(place: str) -> UUID | None:
    return None if place == CONSOLE else UUID(place)


class SshKeyForm(forms.Form):
    public_key = forms.CharField(
        label=_("Public key"),
        help_text=_("The line in ~/.ssh/id_ed25519.pub, or another file that ends in .pub."),
        error_messages={"required": _("Paste the public key.")},
        widget=forms.Textarea(
            attrs={"rows": 4, "class": "pl-code", "spellcheck": "false", "placeholder": "ssh-ed25519 AAAA… me@laptop"}
        ),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        required=False,
        help_text=_("Without one, the comment at the end of the key."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def forget_key(self) -> None:
        """A private key that was pasted is not sent back in the page."""
        self.data = self.data.copy()  # type: ignore[attr-defined]
        self.data["public_key"] = ""  # type: ignore[index]
