"""A real SSH server that lets one key run `git-upload-pack` in a folder of repositories."""

import asyncio
import os
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

from tests.training.git.server import Repository


@dataclass(slots=True)
class SshServer:
    """`key`: the private one that is let in. `asked`: the commands that were run. `tried`: who came with a key."""

    root: Path
    key: str
    port: int = 0
    fingerprint: str = ""
    asked: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"localhost:{self.port}"

    def url(self, name: str = "project.git") -> str:
        return f"ssh://git@{self.host}/{name}"

    def repository(self, name: str = "project.git") -> Repository:
        path = self.root / name
        made = Repository(path)
        if not path.exists():
            made.git("init", "--quiet", "--bare", "--initial-branch=main", str(path))
        return made


def new_key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


def text_of(key: asyncssh.SSHKey) -> str:
    return key.export_private_key().decode()


@contextmanager
def ssh_server(folder: Path, *, key: asyncssh.SSHKey, host_key: asyncssh.SSHKey, port: int = 0) -> Iterator[SshServer]:
    folder.mkdir(exist_ok=True)
    found = SshServer(folder, text_of(key), fingerprint=host_key.get_fingerprint())
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        acceptor = _in(loop, _listening(found, key, host_key, port))
        found.port = acceptor.get_port()
        yield found
        _in(loop, _closed(acceptor))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _in(loop: asyncio.AbstractEventLoop, work: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(work, loop).result(60)


async def _listening(found: SshServer, key: asyncssh.SSHKey, host_key: asyncssh.SSHKey, port: int) -> Any:
    class Door(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return True

        def public_key_auth_supported(self) -> bool:
            return True

        def validate_public_key(self, username: str, offered: asyncssh.SSHKey) -> bool:
            found.tried.append(username)
            return offered.public_data == key.public_data

    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        await _serve(found, process)

    return await asyncssh.create_server(
        Door, "127.0.0.1", port, server_host_keys=[host_key], process_factory=serve, encoding=None
    )


async def _serve(found: SshServer, process: "asyncssh.SSHServerProcess[bytes]") -> None:
    found.asked.append(process.command or "")
    program, path = shlex.split(process.command or "git-upload-pack nothing")
    environment = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    version = process.env.get("GIT_PROTOCOL", "")
    child = await asyncio.create_subprocess_exec(
        "git", program.removeprefix("git-"), str(found.root / path.lstrip("/")),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**environment, "GIT_PROTOCOL": version},
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    feeding = asyncio.create_task(_feed(process, child.stdin))
    # What it says of an error goes before the end of its output.
    await asyncio.gather(_pass_on(child.stdout, process.stdout), _pass_on(child.stderr, process.stderr))
    code = await child.wait()
    feeding.cancel()
    await asyncio.gather(feeding, return_exceptions=True)
    process.exit(code)


async def _feed(process: "asyncssh.SSHServerProcess[bytes]", into: asyncio.StreamWriter) -> None:
    while data := await process.stdin.read(65536):
        into.write(data)
        await into.drain()
    into.close()


async def _pass_on(source: asyncio.StreamReader, into: "asyncssh.SSHWriter[bytes]") -> None:
    while data := await source.read(65536):
        into.write(data)


async def _closed(acceptor: Any) -> None:
    acceptor.close()
    await acceptor.wait_closed()
