"""Where an image that is on its way gets a place: a repository that its person may push to, and a tag."""

import re

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Denied, Invalid
from apps.common.permissions import Permission
from apps.registry.distribution.access import Action, allowed_actions
from apps.registry.distribution.names import RepositoryName, own_part

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)  # distribution's reference grammar


def place(actor: Actor, name: str, *, of_organisation: bool) -> RepositoryName:
    """The repository of this name in the person's own namespace, or in that of their organisation.

    Raises `Invalid` beside `name`, `Denied` for who may not push there.
    """
    organisation, person = own_part(actor.person(), actor.organisation())
    namespace = organisation if of_organisation else f"{organisation}/{person}"
    try:
        found = RepositoryName.parse(f"{namespace}/{name}")
    except ValueError as error:
        words = _("A name has small letters and digits, with single dots, hyphens, underscores or slashes between.")
        raise Invalid.field("name", words) from error
    if of_organisation and found.person:
        raise Invalid.field("name", _("A repository of the organisation has no slash in its name."))
    if Action.PUSH not in allowed_actions(actor, found):
        raise Denied(Permission.IMAGES_MANAGE)
    return found


def is_tag(text: str) -> bool:
    return _TAG.fullmatch(text) is not None


def require_tag(tag: str) -> str:
    """Raises `Invalid` beside `tag`."""
    if not is_tag(tag):
        raise Invalid.field("tag", _("A tag has up to 128 letters, digits, dots, hyphens and underscores."))
    return tag
