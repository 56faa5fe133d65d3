"""The values of secrets on their way to a node: encrypted for it, whether or not the line is.

AES-256-GCM under a key that is derived from the secret that the platform and the agent share, bound to the attempt.
"""

import base64
import json
import os
from dataclasses import replace

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from apps.workloads.drivers.errors import CannotSee
from apps.workloads.drivers.request import LaunchRequest
from apps.workloads.drivers.said import Code, Said

NONCE_BYTES = 12


def closed(shared: bytes, request: LaunchRequest) -> str:
    """The values of the request's secrets, in its order."""
    values = json.dumps([secret.value for secret in request.secrets]).encode()
    nonce = os.urandom(NONCE_BYTES)
    return base64.b64encode(nonce + _cipher(shared).encrypt(nonce, values, _bound_to(request))).decode()


def opened(shared: bytes, request: LaunchRequest, envelope: str) -> LaunchRequest:
    """The request with the values. Raises `CannotSee` for what was not closed for this node and attempt."""
    try:
        data = base64.b64decode(envelope, validate=True)
        values = json.loads(_cipher(shared).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], _bound_to(request)))
        pairs = zip(request.secrets, values, strict=True)
        return replace(request, secrets=tuple(replace(secret, value=value) for secret, value in pairs))
    except (InvalidTag, ValueError) as error:
        raise CannotSee(Said(Code.NODE_UNINTELLIGIBLE, {"error": type(error).__name__})) from error


def _bound_to(request: LaunchRequest) -> bytes:
    return request.attempt_id.bytes


def _cipher(shared: bytes) -> AESGCM:
    return AESGCM(HKDF(algorithm=SHA256(), length=32, salt=None, info=b"plstack secrets 1").derive(shared))
