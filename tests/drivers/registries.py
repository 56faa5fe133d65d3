"""Registries for tests (Debian's `docker-registry` where it is installed), and images of layers that tests write."""

import gzip
import hashlib
import http.client
import http.server
import io
import json
import platform
import shutil
import socket
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import PullRules, Reference
from tests.ports import free_port

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
BUSYBOX = shutil.which("busybox")
Entry = tuple[str, bytes] | tarfile.TarInfo


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass
class Registry:
    """`asked`: the requests, in order. `faults`: answers instead of the registry's own, by method and path."""

    host: str
    put: Callable[[str, str, bytes, str], None]
    asked: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    faults: dict[str, Callable[[http.server.BaseHTTPRequestHandler, bytes], bool]] = field(default_factory=dict)

    @property
    def rules(self) -> PullRules:
        return PullRules(plain_http=(self.host,), most_mib=256, most_files=20_000)

    def blob(self, data: bytes, repository: str = "team/box") -> dict[str, Any]:
        self.put(repository, "blobs", data, "application/octet-stream")
        return {"digest": digest_of(data), "size": len(data), "mediaType": "application/vnd.oci.image.layer.v1.tar"}

    def document(self, about: Mapping[str, Any], kind: str, repository: str = "team/box") -> Reference:
        body = json.dumps({"schemaVersion": 2, "mediaType": kind, **about}).encode()
        self.put(repository, "manifests", body, kind)
        return Reference(f"{self.host}/{repository}", digest_of(body))

    def image(
        self, *layers: bytes, architecture: str = ARCHITECTURE, repository: str = "team/box", **config: Any
    ) -> Reference:
        """An image of these layers, the lowest first. `config`: `Env`, `Cmd` and so on."""
        ids = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
        about = {"os": "linux", "architecture": architecture, "config": config,
                 "rootfs": {"type": "layers", "diff_ids": ids}}  # fmt: skip
        config_blob = self.blob(json.dumps(about).encode(), repository)
        config_blob["mediaType"] = "application/vnd.oci.image.config.v1+json"
        return self.document(
            {"config": config_blob, "layers": [self.blob(layer, repository) for layer in layers]}, MANIFEST, repository
        )


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o755, **more: Any) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.mode = kind, link, mode
    for key, value in more.items():
        setattr(found, key, value)
    return found


def fast(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def layer(*entries: Entry, compress: Callable[[bytes], bytes] = fast) -> bytes:
    """A layer; of a pair, the name and content of a file that may be executed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for each in entries:
            if isinstance(each, tarfile.TarInfo):
                archive.addfile(each)
                continue
            found = entry(each[0])
            found.size = len(each[1])
            archive.addfile(found, io.BytesIO(each[1]))
    return compress(buffer.getvalue())


def busybox(*applets: str) -> bytes:
    """A layer with a static program, and hard links to it by these names."""
    assert BUSYBOX is not None
    links = [entry(f"bin/{name}", tarfile.LNKTYPE, "bin/busybox") for name in applets]
    return layer(entry("bin", tarfile.DIRTYPE), ("bin/busybox", Path(BUSYBOX).read_bytes()), *links)


@contextmanager
def registry(folder: Path) -> Iterator[Registry]:
    """Debian's where it is there, so that what is written against the specification meets somebody else's reading."""
    program = shutil.which("docker-registry")
    if program is None:
        with plain_registry() as found:
            yield found
        return
    port = free_port()
    settings = folder / "registry.yml"
    settings.write_text(json.dumps({
        "version": 0.1, "log": {"level": "error"}, "http": {"addr": f"127.0.0.1:{port}"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
    }))  # fmt: skip
    process = subprocess.Popen(
        [program, "serve", str(settings)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process)
        yield Registry(f"localhost:{port}", lambda *what: _push(port, *what))
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "docker-registry ended"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("docker-registry does not listen")


def _push(port: int, repository: str, kind: str, data: bytes, media: str) -> None:
    """As clients push: a blob by an upload in one piece, a manifest by its digest."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    place = f"/v2/{repository}/manifests/{digest_of(data)}"
    if kind == "blobs":
        connection.request("POST", f"/v2/{repository}/blobs/uploads/", b"")
        answer = connection.getresponse()
        answer.read()
        upload = answer.headers["Location"]
        place = f"{upload}{'&' if '?' in upload else '?'}digest={digest_of(data)}"
    connection.request("PUT", place, data, {"Content-Type": media})
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 201, body
    connection.close()


@contextmanager
def plain_registry() -> Iterator[Registry]:
    """The pulling half of the distribution specification, with faults on demand."""
    kept: dict[str, tuple[bytes, str]] = {}

    def put(repository: str, kind: str, data: bytes, media: str) -> None:
        kept[f"/v2/{repository}/{kind}/{digest_of(data)}"] = (data, media)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found.asked.append(("GET", self.path, dict(self.headers)))
            body, media = kept.get(self.path, (b"", ""))
            for prefix, fault in list(found.faults.items()):
                if self.path.startswith(prefix) and fault(self, body):
                    return
            wanted = self.headers.get("Range", "")
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            status = (206 if start else 200) if media else 404
            answer(self, status, body[start:], {"Content-Type": media or "application/json"})

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Registry(f"localhost:{server.server_port}", put)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def answer(
    handler: http.server.BaseHTTPRequestHandler,
    status: int,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def many(count: int) -> Sequence[bytes]:
    """Small layers, each with a file of its own."""
    return [layer((f"file{number}", b"")) for number in range(count)]
