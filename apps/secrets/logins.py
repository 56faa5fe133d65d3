"""A secret as the password or token with which the platform itself fetches something for who may use it."""

from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.sealing import Unreadable
from apps.secrets import selectors
from apps.secrets.values import opened


def password_of(actor: Actor, secret_id: UUID) -> str:
    """The value of a secret that the actor may use, without blanks around it.

    Raises `Invalid` (field `secret`) for any other, and for a value that no login has.
    """
    secret = selectors.usable(actor).filter(pk=secret_id).first()
    if secret is None:
        raise Invalid.field(
            "secret", _("A secret that was chosen is gone, or is not yours to use. Choose another one.")
        )
    try:
        value = opened(secret).decode().strip()
    except (Unreadable, UnicodeDecodeError):
        value = ""
    if not value or not value.isprintable():
        raise Invalid.field("secret", _("The value of this secret is no password or token: it has several lines."))
    type(secret).objects.filter(pk=secret.pk).update(last_used_at=Now())
    return value
