"""Debian's registry behind the platform's address, as `make run` has it, and images for real clients to push."""

import gzip
import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from django.conf import LazySettings
from django.db import connections

from apps.registry.distribution.proxy import RegistryProxy
from plstack.launch.account import Account
from plstack.launch.layout import Layout
from plstack.launch.registry import Registry
from plstack.requests import RequestHandler
from tests.drivers.registries import ARCHITECTURE, MANIFEST, digest_of, layer
from tests.ports import free_port
from tests.registry.test_registry_tokens import Person

THREADS = 3
PROGRAM = shutil.which("docker-registry")
SKOPEO = shutil.which("skopeo")


@dataclass(frozen=True, slots=True)
class Site:
    """`host`: as a client names it. `registry`: the one behind it, as the launcher runs it."""

    host: str
    home: Path
    registry: Registry

    @property
    def server(self) -> "subprocess.Popen[bytes]":
        assert self.registry.process is not None
        return self.registry.process

    @property
    def storage(self) -> Path:
        return self.registry.storage / "docker" / "registry" / "v2"

    def skopeo(self, *words: str) -> "subprocess.CompletedProcess[str]":
        argv = [str(SKOPEO), "--insecure-policy", *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)

    def push(self, image: Path, where: str, login: str) -> "subprocess.CompletedProcess[str]":
        tls = ["--dest-tls-verify=false", "--dest-creds", login]
        return self.skopeo("copy", *tls, f"oci:{image}", f"docker://{self.host}/{where}")

    def pull(self, where: str, folder: Path, login: str) -> "subprocess.CompletedProcess[str]":
        tls = ["--src-tls-verify=false", "--src-creds", login]
        return self.skopeo("copy", *tls, f"docker://{self.host}/{where}", f"oci:{folder}")


def oci_layout(folder: Path, layers: Sequence[bytes] = (layer(("greeting", b"hello\n")),)) -> str:
    """An image in a folder, as the OCI Image Layout Specification has it; its digest."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(data: bytes, kind: str) -> dict[str, object]:
        (blobs / digest_of(data).removeprefix("sha256:")).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest_of(data), "size": len(data)}

    ids = [f"sha256:{hashlib.sha256(gzip.decompress(each)).hexdigest()}" for each in layers]
    config = {"os": "linux", "architecture": ARCHITECTURE, "config": {}, "rootfs": {"type": "layers", "diff_ids": ids}}
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": put(json.dumps(config).encode(), "config.v1+json"),
        "layers": [put(each, "layer.v1.tar+gzip") for each in layers],
    }
    entry = put(json.dumps(manifest).encode(), "manifest.v1+json")
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    return str(entry["digest"])


@contextmanager
def running(folder: Path, settings: LazySettings) -> Iterator[Site]:
    """The registry and the site in front of it, with their state in `folder`."""
    port = free_port()
    origin = f"http://localhost:{port}"
    settings.PLSTACK_HOME, settings.PORTAL_ORIGIN = str(folder), origin
    settings.REGISTRY_HOST, settings.REGISTRY_SOCKET = f"localhost:{port}", str(folder / "registry.sock")
    with alone(folder, port) as registry, _site(port):
        yield Site(f"localhost:{port}", folder, registry)


@contextmanager
def alone(folder: Path, port: int) -> Iterator[Registry]:
    """The registry for the platform's own questions. `port`: of the site that its answers name."""
    assert PROGRAM is not None
    (folder / "secrets").mkdir(mode=0o700)
    (folder / "secrets" / "registry_events").write_text("told-to-both")
    registry = _registry(folder, port)
    registry.start()
    try:
        await_socket(registry)
        yield registry
    finally:
        if registry.process is not None:
            registry.process.kill()
            registry.process.wait()


def _registry(folder: Path, port: int) -> Registry:
    """Under the test's own account: its folder is closed to others."""
    layout = Layout.from_environ({"PLSTACK_HOME": str(folder), "PLSTACK_VENV": sys.prefix, "PLSTACK_PORT": str(port)})
    layout.logs.mkdir()
    account, home = Account(os.geteuid(), os.getegid()), folder / "registry"
    home.mkdir()
    return Registry(layout, account, folder, home, folder / "registry.sock")


def await_socket(registry: Registry) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert registry.is_alive(), registry.log.read_text()
        with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(registry.socket))
            return
        time.sleep(0.02)
    raise AssertionError(registry.log.read_text())


@contextmanager
def _site(port: int) -> Iterator[None]:
    requests = RequestHandler(threads=THREADS)
    server = uvicorn.Server(
        uvicorn.Config(
            RegistryProxy(requests, requests.threads),
            port=port,
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(60)
        barrier = threading.Barrier(THREADS)
        for done in [requests.threads.submit(_leave_the_database, barrier) for _number in range(THREADS)]:
            done.result(60)


def _leave_the_database(barrier: threading.Barrier) -> None:
    """In each thread: its connection must not outlive the test."""
    barrier.wait(60)
    connections.close_all()


def login(whose: Person) -> str:
    return f"{whose.user.username}:{whose.secret}"


def ask(site: Site, method: str, path: str, token: str = "", body: bytes | None = None) -> tuple[int, bytes]:
    host, _, port = site.host.partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    headers = {"Content-Type": MANIFEST, "Accept": MANIFEST}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()
