"""The key that signs the registry's tokens, and the certificate by which the registry knows it.

Both are made once, in one file of the installation's secrets (mode 0600). Run as a program with the secrets' folder, it
prints the certificate: the launcher gives that to the registry before anything of the platform runs.
"""

import datetime as dt
import os
import sys
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FILE = "registry_tokens"
VALID_FOR = dt.timedelta(days=36_500)
SKEW = dt.timedelta(days=2)  # of clocks, between the platform and the registry


@dataclass(frozen=True, slots=True)
class Signer:
    """An ECDSA key on P-256, and its own certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()


def signer(secrets: Path) -> Signer:
    """The installation's; made when it is missing, by one of several processes at once."""
    path = secrets / FILE
    if not path.exists():
        _make(path)
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> Signer:
    data = path.read_bytes()
    key = serialization.load_pem_private_key(data, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{path} holds no ECDSA key")
    return Signer(key, x509.load_pem_x509_certificate(data))


def _make(path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "PLStack registry tokens")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + VALID_FOR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{FILE}.{os.getpid()}.{threading.get_ident()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(private + certificate.public_bytes(serialization.Encoding.PEM))
    try:
        os.link(temporary, path)  # fails on an existing name: the first one decides the key
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


if __name__ == "__main__":
    sys.stdout.write(signer(Path(sys.argv[1])).pem())
