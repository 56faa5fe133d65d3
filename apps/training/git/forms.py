"""The form that names a commit. It only translates: every rule stands in `origin` and in the service."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.permissions import Permission
from apps.secrets import selectors
from apps.storage.models import Folder
from apps.training.git.origin import (
    LONGEST_ADDRESS,
    LONGEST_FINGERPRINT,
    LONGEST_PATH,
    LONGEST_REF,
    LONGEST_USER,
    Origin,
    Wanted,
    origin_of,
)
from apps.training.git.ssh.host_keys import HostUnknown

PREFIX = "git"
SECRETS_SHOWN = 200
_PLAIN = {"spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}


def _text(label: Any, longest: int, *, missing: Any = "", **attrs: str) -> forms.CharField:
    """`missing`: what is said where it is left empty; without it it may be."""
    widget = forms.TextInput(attrs={**_PLAIN, **attrs})
    errors = {"required": missing}
    return forms.CharField(
        label=label, max_length=longest, required=bool(missing), widget=widget, error_messages=errors
    )


class GitForm(forms.Form):
    """It lies inside the form of a run, so its fields have a prefix. What is wrong with it, `fetch` says."""

    use_required_attribute = False  # it lies in the form also where another source is chosen
    address = _text(
        _("Address of the repository"),
        LONGEST_ADDRESS,
        missing=_("Give the address of the repository."),
        placeholder="https://github.com/name/project.git",
    )
    ref = _text(_("Branch, tag or commit"), LONGEST_REF, placeholder="main")
    path = _text(_("Folder inside"), LONGEST_PATH, placeholder="training/vision")
    username = _text(_("User name"), LONGEST_USER)
    secret = forms.ChoiceField(label=_("Password, token or SSH key"), required=False)
    host_key = forms.CharField(max_length=LONGEST_FINGERPRINT, required=False, widget=forms.HiddenInput)
    unknown: HostUnknown | None = None

    def __init__(self, data: Any = None, *, actor: Actor, origin: Origin | None = None, newest: bool = True) -> None:
        """`origin`: what an earlier run was made of; with `newest` False that commit, not what its branch is now."""
        super().__init__(data, prefix=PREFIX, initial=_initial(origin, newest=newest))
        rows = selectors.usable(actor) if actor.may(Permission.SECRETS_USE) else None
        found = [] if rows is None else rows.values_list("pk", "name")[:SECRETS_SHOWN]
        field: Any = self.fields["secret"]
        field.choices = [("", _("None: it is public")), *((str(pk), name) for pk, name in found)]
        # One that is not theirs is none: a clone then asks for one of their own.
        if self.initial.get("secret") not in {str(pk) for pk, _name in found}:
            self.initial = {**self.initial, "secret": "", "username": ""}

    def wanted(self) -> Wanted:
        """The form must be valid."""
        data = self.cleaned_data
        secret_id = UUID(data["secret"]) if data["secret"] else None
        return Wanted(data["address"], data["ref"], data["path"], data["username"], secret_id, data["host_key"])

    def show(self, error: DomainError) -> None:
        """Beside its field, with what to do next; above the form what is about none of them.

        A server that is not known yet is none of these: the box asks whether it is the right one.
        """
        if isinstance(error, HostUnknown):
            self.unknown = error
            return
        fields = [name for name in error.fields if name in self.fields]
        for name in fields:
            self.add_error(name, error.sentences)
        if not fields:
            self.add_error(None, error.sentences)


def _initial(origin: Origin | None, *, newest: bool) -> dict[str, str]:
    if origin is None:
        return {}
    ref = origin.ref if newest else origin.commit
    named = {"address": origin.address, "ref": ref, "path": origin.path}
    return {**named, "username": origin.username, "secret": origin.secret}


def require_fetched(form: GitForm, folder: Folder | None) -> None:
    """Raises `Invalid` (field `git_code`) where what the form names is not what was fetched: nobody saw that commit."""
    origin = origin_of(folder)
    if origin is None:
        raise Invalid.field("git_code", _("Fetch the repository first, so that you see what will run."))
    address, ref, path = (str(form[name].value() or "") for name in ("address", "ref", "path"))
    try:
        same = not address or origin.is_of(Wanted(address, ref, path).cleaned())
    except Invalid:
        same = False
    if not same:
        raise Invalid.field("git_code", _("Address, branch or folder was changed after fetching. Fetch it again."))
