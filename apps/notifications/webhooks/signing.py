"""Signatures of the Standard Webhooks scheme: https://github.com/standard-webhooks/standard-webhooks, version 1.

`Webhook-Signature: v1,<base64 of HMAC-SHA256 over "id.timestamp.body">`, one for each secret in force, separated by
blanks. Secrets are shown as `whsec_<base64>`; the bytes behind the prefix are the key.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """One `v1,…`; raises `ValueError` for a secret that is none."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("not a webhook secret") from error
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(keys: Iterable[str], *, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """What the receiver verifies; while a secret is being changed both sign."""
    signed = [signature(key, message_id=message_id, timestamp=timestamp, body=body) for key in keys]
    return {
        "Webhook-Id": message_id,
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": " ".join(signed),
    }
