"""The keys of an application: converted from the forms that Alipay's tools write to those in use, and checked."""

import base64
import binascii
import hashlib
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)

SMALLEST_BITS = 2048  # what RSA2 asks for
FEW = 4


class KeyProblem(ValueError):
    """A key that cannot be used; `code` is one of `unreadable`, `not_rsa`, `too_small`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def private_key(text: str) -> str:
    """PKCS#1 in base64 on one line, as the SDK wants it, from PKCS#1 or PKCS#8, with or without PEM's headers."""
    der = _private(text).private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return base64.b64encode(der).decode()


def public_key(text: str) -> str:
    """SubjectPublicKeyInfo in base64 on one line, with or without PEM's headers."""
    der = load_public(text).public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


def public_of(private: str) -> str:
    """The public half, to be entered at Alipay: base64 on one line."""
    der = _private(private).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(der).decode()


def fingerprint(public: str) -> str:
    """The first half of the SHA-256 of a public key, in groups of four: enough to compare two by eye."""
    digest = hashlib.sha256(base64.b64decode(public_key(public))).hexdigest()[:32]
    return ":".join(digest[start : start + 4] for start in range(0, 32, 4))


def verifies(public: str, message: bytes, signature: str) -> bool:
    """Whether `signature` (base64) is RSA2's, that is PKCS#1 v1.5 with SHA-256, of the message. SHA-1's is not."""
    try:
        load_public(public).verify(base64.b64decode(signature, validate=True), message, PKCS1v15(), hashes.SHA256())
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True


def load_public(text: str) -> RSAPublicKey:
    try:
        key = load_der_public_key(_der(text))
    except (ValueError, TypeError) as error:
        raise KeyProblem("unreadable") from error
    if not isinstance(key, RSAPublicKey):
        raise KeyProblem("not_rsa")
    if key.key_size < SMALLEST_BITS:
        raise KeyProblem("too_small")
    return key


@lru_cache(FEW)
def _private(text: str) -> RSAPrivateKey:
    """Kept, since OpenSSL proves the primes of a key each time that it reads one, which takes tens of milliseconds."""
    try:
        key = load_der_private_key(_der(text), password=None)
    except (ValueError, TypeError) as error:
        raise KeyProblem("unreadable") from error
    if not isinstance(key, RSAPrivateKey):
        raise KeyProblem("not_rsa")
    if key.key_size < SMALLEST_BITS:
        raise KeyProblem("too_small")
    return key


def _der(text: str) -> bytes:
    lines = [line.strip() for line in text.strip().splitlines()]
    body = "".join(line for line in lines if line and not line.startswith("-----"))
    try:
        return base64.b64decode("".join(body.split()), validate=True)
    except binascii.Error as error:
        raise KeyProblem("unreadable") from error
