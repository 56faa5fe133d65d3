"""An index for pip and npm of one's own, over TLS, by an authority that nobody else trusts."""

import datetime
import hashlib
import http.server
import io
import json
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from apps.workloads.drivers.base import SoftwareSources

FAR = "index.example"
"""Another name of it, which nothing resolves."""


@dataclass
class Index:
    """`asked`: the paths that were asked for."""

    port: int
    authority: str
    asked: list[str] = field(default_factory=list)

    @property
    def sources(self) -> SoftwareSources:
        return self.sources_at("localhost")

    def sources_at(self, host: str) -> SoftwareSources:
        base = f"https://{host}:{self.port}"
        return SoftwareSources(pip_index=f"{base}/simple/", npm_registry=f"{base}/npm/", certificates=self.authority)


@contextmanager
def index(folder: Path) -> Iterator[Index]:
    """It has the Python package `answer`, the npm package `wrappy`, and an empty project `wheel`."""
    authority, context = certificates(folder)
    found = Index(0, authority)
    pages = _pages()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            body = pages.get(self.path.rstrip("/"))
            if body is None:
                self.send_error(404)
                return
            text = body.replace(b"@port@", str(found.port).encode())
            self.send_response(200)
            self.send_header("Content-Type", "application/json" if text[:1] == b"{" else "text/html")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()


def _pages() -> dict[str, bytes]:
    wheel, packed = _wheel(), _tarball()
    name = "answer-1.0-py3-none-any.whl"
    version = {
        "name": "wrappy",
        "version": "1.0.0",
        "dist": {
            "tarball": "https://localhost:@port@/npm/wrappy.tgz",
            "shasum": hashlib.sha1(packed, usedforsecurity=False).hexdigest(),
        },
    }
    document = {"name": "wrappy", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    return {
        "/simple/answer": f'<html><body><a href="/files/{name}">{name}</a></body></html>'.encode(),
        "/simple/wheel": b"<html><body></body></html>",
        f"/files/{name}": wheel,
        "/npm/wrappy": json.dumps(document).encode(),
        "/npm/wrappy.tgz": packed,
    }


def _wheel() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("answer.py", "VALUE = 42\n")
        archive.writestr("answer-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n")
        archive.writestr("answer-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("answer-1.0.dist-info/RECORD", "")
    return buffer.getvalue()


def _tarball() -> bytes:
    buffer = io.BytesIO()
    files = {
        "package.json": '{"name":"wrappy","version":"1.0.0","main":"index.js"}',
        "index.js": "console.log('wrapped')",
    }
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def certificates(folder: Path) -> tuple[str, ssl.SSLContext]:
    """The authority's certificate in PEM, and a server's context with one that it signed for localhost."""
    authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _signed("Campus authority", authority_key, authority_key, "Campus authority", is_authority=True)
    server = _signed("localhost", server_key, authority_key, "Campus authority", is_authority=False)
    chain, key = folder / "server.pem", folder / "server.key"
    chain.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    return authority.public_bytes(serialization.Encoding.PEM).decode(), context


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer_key: ec.EllipticCurvePrivateKey,
    issuer: str,
    *,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    usage = x509.KeyUsage(not is_authority, False, False, False, False, is_authority, is_authority, False, False)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.DNSName(FAR)]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
