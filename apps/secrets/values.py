"""Sealing and opening the values: the only module that ever holds one in clear."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.sealing import purpose_for, seal, unseal
from apps.common.text import unstorable
from apps.secrets.models import Secret

LARGEST = 64 * 1024


def sealed(value: str, secret_id: UUID) -> bytes:
    """The value for its row. Raises `Invalid` (field `value`) for one that no program can be given."""
    data = value.encode(errors="surrogatepass")
    if not data:
        raise Invalid.field("value", _("Enter the value."))
    if len(data) > LARGEST:
        raise Invalid.field("value", _("A secret has 64 KiB at most."))
    if unstorable(value):
        raise Invalid.field("value", _("A secret cannot hold a NUL or half a character. Encode it, as base64 for one."))
    return seal(data, purpose=_purpose(secret_id))


def opened(secret: Secret) -> bytes:
    """What the program is given. Raises `sealing.Unreadable`."""
    return unseal(bytes(secret.sealed), purpose=_purpose(secret.pk))


def _purpose(secret_id: UUID) -> str:
    return purpose_for("secrets_secret", secret_id, "sealed")
