"""Secrets at rest: AES-256-GCM under a key outside the database and its backups, bound to their row and column.

A sealed value is `version (1 byte) · key number (2 bytes) · nonce (12 bytes) · ciphertext and tag`. Its `purpose` is
authenticated with it, so that a value copied into another row, column or table does not open there.

Keys come from PLSTACK_SEALING_KEYS (`1:<64 hexadecimal digits>`, comma-separated) or from the file `secrets/sealing` of
the installation, one `<number>:<digits>` a line, made at first use with mode 0600. New values are sealed under the
highest number; all of them open. Without the keys a backup of the database gives no secret away, and none back.
"""

import os
import secrets
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Unavailable

VERSION = b"\x01"
NONCE_BYTES = 12
HEAD_BYTES = 3  # version and key number
Keys = dict[int, bytes]


class Unreadable(Unavailable):
    """A stored secret cannot be decrypted: its key is gone, or the value was changed or moved."""

    code = "secret_unreadable"

    def __init__(self) -> None:
        super().__init__(
            _("A stored secret cannot be read."),
            hint=_("The installation's sealing keys do not fit its database. Restore them, or enter the secret again."),
        )


def purpose_for(table: str, row: object, field: str) -> str:
    """The `purpose` of a value in this row's field."""
    return f"{table}/{row}/{field}"


def seal(plaintext: bytes, *, purpose: str) -> bytes:
    """`plaintext` encrypted for this purpose; the same input never gives the same output twice."""
    number, key = max(_keys().items())
    head, nonce = VERSION + number.to_bytes(2, "big"), secrets.token_bytes(NONCE_BYTES)
    return head + nonce + AESGCM(key).encrypt(nonce, plaintext, head + purpose.encode())


def unseal(sealed: bytes, *, purpose: str) -> bytes:
    """Decrypt what `seal` encrypted for this purpose; raises `Unreadable`."""
    sealed = bytes(sealed)  # the database hands out memory views
    head, rest = sealed[:HEAD_BYTES], sealed[HEAD_BYTES:]
    key = _key(int.from_bytes(head[1:], "big"))
    if head[:1] != VERSION or key is None:
        raise Unreadable
    try:
        return AESGCM(key).decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], head + purpose.encode())
    except (InvalidTag, ValueError) as error:
        raise Unreadable from error


def rotate() -> int:
    """Add a key to the file, seal under it from now on, return its number. Processes do so once restarted."""
    if settings.SEALING_KEYS:
        raise ImproperlyConfigured("PLSTACK_SEALING_KEYS is set: add a key with a higher number there.")
    path = _path()
    number = max(_from_file(path)) + 1
    with path.open("a") as file:
        file.write(f"{number}:{secrets.token_hex(32)}\n")
    _read.cache_clear()
    return number


def _key(number: int) -> bytes | None:
    """The key of a number; an unknown number may be one that another process has just added."""
    if number not in _keys():
        _read.cache_clear()
    return _keys().get(number)


def _keys() -> Keys:
    return _read(tuple(settings.SEALING_KEYS), _path())


def _path() -> Path:
    return Path(settings.PLSTACK_HOME) / "secrets" / "sealing"


@lru_cache(maxsize=8)
def _read(given: tuple[str, ...], path: Path) -> Keys:
    return _parsed(given) if given else _from_file(path)


def _from_file(path: Path) -> Keys:
    if not path.exists():
        _create(path)
    return _parsed(tuple(path.read_text().split()))


def _create(path: Path) -> None:
    """link() fails if the name exists, so that of two simultaneous processes only one decides the key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"1:{secrets.token_hex(32)}\n")
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def _parsed(lines: tuple[str, ...]) -> Keys:
    try:
        found = {
            int(number): bytes.fromhex(digits) for number, _colon, digits in (line.partition(":") for line in lines)
        }
    except ValueError as error:
        raise ImproperlyConfigured("Sealing keys are written <number>:<64 hexadecimal digits>.") from error
    if not found or any(len(key) != 32 or not 0 < number < 1 << 16 for number, key in found.items()):
        raise ImproperlyConfigured("Sealing keys are written <number>:<64 hexadecimal digits>.")
    return {number: _derived(key) for number, key in found.items()}


def _derived(master: bytes) -> bytes:
    """Anything else derived from the same master must use another `info` (RFC 5869)."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=b"plstack sealing 1").derive(master)
