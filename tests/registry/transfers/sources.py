"""A second registry, Debian's own, from which images are pulled; with a password where a test wants one."""

import gzip
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import LazySettings

from tests.ports import free_port
from tests.registry.serving import PROGRAM, SKOPEO

USER, PASSWORD = "robot", "robot-password"
HTPASSWD = "robot:$2b$04$E3JgOsUiMESGVmLDNgomdeFAqsU7I55oGtqCSFedqU.QfIx1GEWwO\n"  # bcrypt of the password


@dataclass(frozen=True, slots=True)
class Source:
    """`host`: as an address names it. `creds`: for skopeo."""

    host: str
    process: "subprocess.Popen[bytes]"
    creds: str = ""

    def push(self, image: Path, where: str) -> None:
        login = ["--dest-creds", self.creds] if self.creds else ["--dest-no-creds"]
        argv = [str(SKOPEO), "--insecure-policy", "copy", "--all", "--dest-tls-verify=false", *login]
        subprocess.run([*argv, f"oci:{image}", f"docker://{self.host}/{where}"], check=True, timeout=120)


@contextmanager
def serving_source(folder: Path, settings: LazySettings, *, guarded: bool = False) -> Iterator[Source]:
    """Its address is allowed, although it is a private one."""
    assert PROGRAM is not None
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    about = {
        "version": 0.1,
        "log": {"level": "error"},
        "http": {"addr": f"127.0.0.1:{port}"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "storage")}},
    }
    if guarded:
        (folder / "htpasswd").write_text(HTPASSWD)
        about["auth"] = {"htpasswd": {"realm": "source", "path": str(folder / "htpasswd")}}
    (folder / "source.yml").write_text(json.dumps(about))
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([PROGRAM, "serve", str(folder / "source.yml")], **quiet)  # type: ignore[call-overload]
    host = f"localhost:{port}"
    rules = settings.IMAGE_PULL_RULES
    settings.IMAGE_PULL_RULES = replace(rules, plain_http=(*rules.plain_http, host))
    settings.IMAGE_SOURCES_PRIVATE = [*settings.IMAGE_SOURCES_PRIVATE, host]
    try:
        _wait_for(port)
        yield Source(host, process, f"{USER}:{PASSWORD}" if guarded else "")
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("the source does not listen")


def large_layer(size: int) -> bytes:
    """Of random bytes, which no compression makes smaller."""
    return gzip.compress(os.urandom(size), 0, mtime=0)
