"""People with keys at a front door, and an environment behind it."""

import asyncio
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncssh

from apps.billing import selectors as funds
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.envs.models import Environment
from apps.envs.program import HOME
from apps.envs.services.create import Request, create
from apps.envs.ssh.server import ServerState, listen
from apps.storage.services import root_of
from apps.tenants import ssh_keys
from apps.tenants.actors import personal_actor
from apps.tenants.models import User
from apps.workloads import nodes, services
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Handle
from apps.workloads.spec import DataMount, Image, Spec
from tests.builders import World
from tests.workloads.loops import until

TIMEOUT_S = 60
LISTENS = """
import http.server, threading, time
serve = lambda: http.server.test(http.server.SimpleHTTPRequestHandler, port=8080, bind="127.0.0.1")
threading.Thread(target=serve, daemon=True).start()
time.sleep(600)
"""


@dataclass(frozen=True, slots=True)
class Client:
    """A person's OpenSSH with one key. `user` in every call is the code of what is wanted."""

    port: int
    key: Path
    folder: Path

    def options(self, port_letter: str = "-p") -> list[str]:
        settings = ("IdentitiesOnly=yes", "StrictHostKeyChecking=accept-new", "BatchMode=yes", "LogLevel=ERROR",
                    f"UserKnownHostsFile={self.folder / 'known_hosts'}", "ConnectTimeout=20")  # fmt: skip
        return [
            "-F",
            "none",
            "-i",
            str(self.key),
            *(w for s in settings for w in ("-o", s)),
            port_letter,
            str(self.port),
        ]

    def ssh(self, user: str, *command: str, before: tuple[str, ...] = (), data: bytes = b"") -> "Done":
        return self.run("ssh", *self.options(), *before, f"{user}@127.0.0.1", *command, data=data)

    def scp(self, *arguments: str) -> "Done":
        """`@code:path` stands for a path there."""
        return self.run("scp", *self.options("-P"), *(_there(argument) for argument in arguments))

    def sftp(self, user: str, *lines: str) -> "Done":
        batch = self.folder / f"batch-{uuid4().hex}"
        batch.write_text("\n".join(lines) + "\n")
        return self.run("sftp", *self.options("-P"), "-b", str(batch), f"{user}@127.0.0.1")

    def rsync(self, *arguments: str) -> "Done":
        shell = " ".join(["ssh", *self.options()])
        return self.run("rsync", "-e", shell, *(_there(argument) for argument in arguments))

    def run(self, *argv: str, data: bytes = b"") -> "Done":
        done = subprocess.run(argv, input=data, capture_output=True, timeout=TIMEOUT_S, check=False, cwd=self.folder)
        return Done(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    output: bytes
    errors: str


def _there(argument: str) -> str:
    return argument.replace("@", "", 1).replace(":", "@127.0.0.1:", 1) if argument.startswith("@") else argument


@dataclass(frozen=True, slots=True)
class Desk:
    """Where keys are made; `house` is the door's own state."""

    port: int
    folder: Path
    house: ServerState

    def client(self, user: User | None) -> Client:
        """OpenSSH with a new key: the person's, or nobody's."""
        key = self.folder / f"key-{uuid4().hex}"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        if user is not None:
            actor = personal_actor(user)
            ssh_keys.add(actor, name="laptop", public_key=key.with_suffix(".pub").read_text())
        return Client(self.port, key, self.folder)


@contextmanager
def open_door(home: Path) -> Iterator[tuple[int, ServerState]]:
    """A door in a thread of its own, on a free port."""
    loop, house = asyncio.new_event_loop(), ServerState()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    acceptor = asyncio.run_coroutine_threadsafe(listen("127.0.0.1", 0, home, house), loop).result(60)
    try:
        yield acceptor.get_port(), house
    finally:
        asyncio.run_coroutine_threadsafe(_close(acceptor, house), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)


async def _close(acceptor: asyncssh.SSHAcceptor, house: ServerState) -> None:
    """As when the process ends, but with the loop left clean."""
    acceptor.close()
    for door in list(house.doors):
        door.connection.abort()
    await asyncio.sleep(0.1)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def make_environment(world: World, user: User | None = None) -> Environment:
    """A stopped one of Alice's."""
    with acting(world.actor):
        request = Request(
            name="lab", image_id=world.image.pk, package_id=world.package.pk, key=uuid4().hex, start=False
        )
        return create(world.actor, request)


def run_environment(world: World, environment: Environment) -> Environment:
    """Started without the tools that an environment usually has: here only its files and a shell matter."""
    quote = funds.quote(world.actor, package_id=world.package.pk)
    spec = Spec(
        image=Image(world.image.key, tuple(world.image.requirements)),
        argv=("python", "-c", LISTENS),
        cpu_milli=world.package.cpu_milli,
        memory_mib=world.package.memory_mib,
        env={"HOME": HOME, "SHELL": "/bin/bash", "MARK": "inside"},
        mounts=(DataMount(environment.home.relative_path, HOME, False),),
        workdir=HOME,
    )
    with acting(world.actor):
        submission = services.Submission(
            ENVIRONMENT, "lab", spec, world.package.pk, quote.price_version_id, uuid4().hex, uuid4()
        )
        workload = services.submit(world.actor, submission)
    Environment.objects.filter(pk=environment.pk).update(workload=workload)
    until(workload, lambda w: w.status == Status.RUNNING)
    environment.refresh_from_db()
    return environment


def end_all(environment: Environment) -> None:
    environment.refresh_from_db()
    if environment.workload is not None:
        for attempt in environment.workload.attempts.all():
            if attempt.handle:
                nodes.local_driver().stop(Handle.from_dict(attempt.handle), 0)


def home_of(environment: Environment) -> Path:
    return root_of(environment.home)
