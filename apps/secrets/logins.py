"""A secret as the password, token or key with which the platform itself fetches something for who may use it."""

from typing import Any
from uuid import UUID

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.sealing import Unreadable
from apps.secrets import selectors
from apps.secrets.models import Secret
from apps.secrets.values import opened


def password_of(actor: Actor, secret_id: UUID) -> str:
    """The value of a secret that the actor may use, without blanks around it.

    Raises `Invalid` (field `secret`) for any other, and for a value that no login has.
    """
    value = _value(actor, secret_id).strip()
    if not value or not value.isprintable():
        raise Invalid.field("secret", _("The value of this secret is no password or token: it has several lines."))
    _note_use(secret_id)
    return value


def private_key_of(actor: Actor, secret_id: UUID) -> str:
    """The value of a secret that the actor may use, as a private SSH key in a form that ssh reads.

    Raises `Invalid` (field `secret`) for any other, and for one with a passphrase, which nobody would be asked for.
    """
    text = "\n".join(_value(actor, secret_id).strip().splitlines()) + "\n"
    load = load_ssh_private_key if "OPENSSH PRIVATE KEY" in text else load_pem_private_key
    try:
        load(text.encode(), password=None)
    except TypeError:
        raise _no_key(_("The private key of this secret has a passphrase.")) from None
    except (ValueError, UnsupportedAlgorithm):
        raise _no_key(_("The value of this secret is no private SSH key.")) from None
    _note_use(secret_id)
    return text


def _no_key(message: Any) -> Invalid:
    hint = _(
        "Make one without a passphrase for this alone with “ssh-keygen -t ed25519”, and set the file without .pub."
    )
    return Invalid.field("secret", message, hint=hint)


def _value(actor: Actor, secret_id: UUID) -> str:
    """Empty for what is no text."""
    secret = selectors.usable(actor).filter(pk=secret_id).first()
    if secret is None:
        raise Invalid.field(
            "secret", _("A secret that was chosen is gone, or is not yours to use. Choose another one.")
        )
    try:
        return opened(secret).decode()
    except (Unreadable, UnicodeDecodeError):
        return ""


def _note_use(secret_id: UUID) -> None:
    Secret.objects.filter(pk=secret_id).update(last_used_at=Now())
