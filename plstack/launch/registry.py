"""The embedded registry of container images: Debian's `docker-registry` on a Unix socket, where it is installed.

The web processes pass `/v2/` of their address to it. It asks for tokens of the platform, which says who may pull and
push what, and tells the platform of what was pushed.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plstack.launch import credentials
from plstack.launch.account import (
    Account,
    Service,
    private_folder,
    server_account,
    server_home,
    socket_folder,
)
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble
from plstack.launch.spawn import last_line, run_captured, start_server

PROGRAM = "docker-registry"
ISSUER, AUDIENCE = "plstack", "plstack-registry"  # as in apps.registry.distribution.bearer
DRAIN_S = 30
EVENTS_SECRET = "registry_events"  # noqa: S105  the name of a file


def program() -> str | None:
    return shutil.which(PROGRAM)


@dataclass(frozen=True, slots=True)
class Addresses:
    """`socket`: where it listens. `origin`: the site's, as people reach it. `events`: where it tells what happened."""

    socket: Path
    origin: str
    events: str


def configuration(addresses: Addresses, storage: Path, certificate: Path, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Of distribution's registry, version 2; `secrets`: for its uploads (`uploads`) and for its events (`events`)."""
    return {
        "version": 0.1,
        "log": {"level": "warn", "accesslog": {"disabled": True}},
        "storage": {
            "filesystem": {"rootdirectory": str(storage), "maxthreads": 50},
            "delete": {"enabled": True},
            "cache": {"blobdescriptor": "inmemory"},
            "maintenance": {"uploadpurging": {"enabled": True, "age": "48h", "interval": "6h", "dryrun": False}},
        },
        "http": {
            "net": "unix",
            "addr": str(addresses.socket),
            "secret": secrets["uploads"],
            "relativeurls": True,
            "draintimeout": f"{DRAIN_S}s",  # asked to end, it first answers what it was asked
        },
        "auth": {
            "token": {
                "realm": f"{addresses.origin}/v2/token",
                "service": AUDIENCE,
                "issuer": ISSUER,
                "rootcertbundle": str(certificate),
            }
        },
        "notifications": {
            "endpoints": [
                {
                    "name": "plstack",
                    "url": addresses.events,
                    "headers": {"Authorization": [f"Bearer {secrets['events']}"], "X-Forwarded-Proto": ["https"]},
                    "timeout": "10s",
                    "threshold": 5,
                    "backoff": "10s",
                    "ignore": {"actions": ["pull"]},
                }
            ]
        },
    }


@dataclass(slots=True)
class Registry:
    """One server. Pushed images lie in `registry` of its home."""

    layout: Layout
    account: Account
    base: Path
    folder: Path
    socket: Path
    process: "subprocess.Popen[bytes] | None" = None

    @classmethod
    def from_layout(cls, layout: Layout) -> "Registry":
        # An id of its own: derived from a folder's name, as those of the other servers are from the home's.
        account = server_account(layout.home / "registry", Service.POSTGRES)
        base = server_home(layout.home, account)
        folder = private_folder(base / "registry", account)
        return cls(layout, account, base, folder, socket_folder(base, "registry-socket", account) / "registry.sock")

    @property
    def log(self) -> Path:
        return self.layout.logs / "registry.log"

    @property
    def storage(self) -> Path:
        return self.folder / "storage"

    @property
    def configuration(self) -> Path:
        return self.folder / "registry.json"

    def start(self) -> None:
        """Start the server, after one that an earlier supervisor left behind. Raises Trouble."""
        found = program()
        if found is None:
            raise Trouble(f"{PROGRAM} is not installed any more: images can be neither pushed nor pulled")
        self.socket.unlink(missing_ok=True)
        argv: list[str | Path] = [found, "serve", self._write_configuration()]
        self.process = start_server(argv, self.account, self.log, self.folder, on_parent_death=signal.SIGTERM)

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def _write_configuration(self) -> Path:
        """Its secrets stand in it, so that it is the server's alone."""
        storage = self.storage
        storage.mkdir(mode=0o700, exist_ok=True)
        certificate, path = self.folder / "tokens.pem", self.configuration
        certificate.unlink(missing_ok=True)
        certificate.write_text(self._certificate())
        address = Addresses(self.socket, self.layout.origin, f"{self.layout.address}/v2/events")
        secrets = {
            "uploads": credentials.get_or_create(self.layout.secrets, "registry_uploads"),
            "events": credentials.get_or_create(self.layout.secrets, EVENTS_SECRET),
        }
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(configuration(address, storage, certificate, secrets), file)
        for mine in (storage, certificate, path):  # what lies in the storage is the account's already
            os.chown(mine, self.account.uid, self.account.gid, follow_symlinks=False)
        return path

    def _certificate(self) -> str:
        argv = [self.layout.python, "-m", "apps.registry.distribution.keys", self.layout.secrets]
        done = run_captured(argv, cwd=self.layout.root)
        if done.returncode or "BEGIN CERTIFICATE" not in done.stdout:
            raise Trouble(f"the registry's certificate could not be made: {last_line(done.stdout)}")
        return done.stdout
