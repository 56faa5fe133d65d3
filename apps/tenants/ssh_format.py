"""Parse a pasted SSH public key: OpenSSH's one line (RFC 4253, section 6.6), strong kinds only."""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid

MAX_CHARS = 8192
RSA_MIN_BITS, RSA_MAX_BITS = 3072, 16384
KINDS = {
    "ssh-ed25519": "Ed25519",
    "ecdsa-sha2-nistp256": "ECDSA P-256",
    "ecdsa-sha2-nistp384": "ECDSA P-384",
    "ecdsa-sha2-nistp521": "ECDSA P-521",
    "ssh-rsa": "RSA",
    "sk-ssh-ed25519@openssh.com": "Ed25519-SK",
    "sk-ecdsa-sha2-nistp256@openssh.com": "ECDSA-SK",
}
MAKE_ONE = _("Make a new pair with “ssh-keygen -t ed25519” and paste the file that ends in .pub.")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """`line` is algorithm and base64 without the comment; `fingerprint` as ssh-keygen -l prints it."""

    algorithm: str
    line: str
    comment: str
    fingerprint: str
    words: str


class PrivateKeyPasted(Invalid):
    """A private key was pasted. It is neither stored nor shown again; the pair must be considered compromised."""

    code = "private_key"


def parse(text: str) -> PublicKey:
    """The key in `text`; raises `Invalid` on the field `public_key`, saying what it is instead and what to do."""
    text = text.strip()
    _check_kind(text)
    algorithm, encoded, comment = _parts(text)
    if algorithm == "ssh-dss":
        raise _refused(_("DSA keys are broken and not accepted."), MAKE_ONE)
    if algorithm not in KINDS:
        raise _refused(_("This kind of key is not accepted: “%(kind)s”.") % {"kind": algorithm[:40]}, MAKE_ONE)
    blob = _decoded(algorithm, encoded)
    line = f"{algorithm} {base64.b64encode(blob).decode()}"
    bits = _bits(algorithm, line)
    words = f"{KINDS[algorithm]} {bits}" if bits else KINDS[algorithm]
    return PublicKey(algorithm, line, " ".join(comment.split())[:60], fingerprint_of(blob), words)


def fingerprint_of(blob: bytes) -> str:
    """`SHA256:` and the unpadded base64 of the digest of the key's wire form."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _check_kind(text: str) -> None:
    """Recognise what is often pasted instead of a public key."""
    if "PRIVATE KEY" in text or text.startswith("PuTTY-User-Key-File"):
        raise PrivateKeyPasted(
            _("This is a private key. It must never leave your machine."),
            hint=_("Nothing was kept. Make a new pair, and stop using this one: it has been sent over the network."),
            fields={"public_key": _("This is a private key. It must never leave your machine.")},
        )
    if text.startswith("---- BEGIN SSH2 PUBLIC KEY"):
        raise _refused(_("This is the form of PuTTY."), _("Copy the line from the top of PuTTYgen's window instead."))
    if len(text) > MAX_CHARS:
        raise _refused(_("This is too long for a key."))
    if len(text.splitlines()) > 1:
        raise _refused(_("Paste one key, on one line."))


def _parts(text: str) -> tuple[str, str, str]:
    words = text.split(None, 2)
    if len(words) < 2:
        raise _refused(_("This is not a public key."), _("It begins with “ssh-ed25519” or a similar word."))
    if words[0] not in KINDS and any(f"{kind} " in text for kind in KINDS):
        raise _refused(_("Paste the key alone, without options before it."))
    return words[0], words[1], words[2] if len(words) > 2 else ""


def _decoded(algorithm: str, encoded: str) -> bytes:
    """The wire form, which names its own algorithm; it must equal the one in front of it."""
    broken = _refused(_("The key is damaged or was not copied as a whole."))
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise broken from error
    named = len(algorithm).to_bytes(4, "big") + algorithm.encode()
    if not blob.startswith(named):
        raise broken
    return blob


def _bits(algorithm: str, line: str) -> int | None:
    """The length of an RSA key; None for the others, whose length is their kind's."""
    try:
        key = load_ssh_public_key(line.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _refused(_("The key is damaged or was not copied as a whole.")) from error
    if not isinstance(key, RSAPublicKey):
        return None
    if not RSA_MIN_BITS <= key.key_size <= RSA_MAX_BITS:
        text = _("RSA keys need at least %(least)s bits; this one has %(bits)s.")
        raise _refused(text % {"least": RSA_MIN_BITS, "bits": key.key_size}, MAKE_ONE)
    return key.key_size


def _refused(message: str | Promise, hint: str | Promise = "") -> Invalid:
    return Invalid.field("public_key", f"{message} {hint}" if hint else message)
