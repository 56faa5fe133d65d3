"""The SSH server: one address for all environments and volumes; the user name selects one."""

import asyncio
import logging
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
from django.db import Error as DatabaseError

from apps.envs.ssh import forwarding, session_auth, sessions
from apps.envs.ssh.bans import Bans
from apps.envs.ssh.hostkey import host_key
from apps.envs.ssh.session_auth import Guest
from apps.envs.ssh.sftp import Files
from apps.envs.ssh.workers import in_checking_thread, in_thread
from apps.workloads import activity
from apps.workloads.activity import Recorder
from apps.workloads.choices import Source

log = logging.getLogger(__name__)

CHECK_AGAIN_S = 10.0
RECORD_S = 3.0
LOGIN_S = 30
KEEPALIVE_S = 30
MAX_CONNECTIONS = 500
MAX_PER_ADDRESS = 50
MAX_FORWARDS = 32
MAX_KEYS = 12

asyncssh.set_log_level(logging.WARNING)  # below that it writes people's commands into the log


class ServerState:
    """What all connections of this process share."""

    def __init__(self) -> None:
        self.bans = Bans()
        self.recorder = Recorder(Source.SSH)
        self.doors: set[SSHServer] = set()
        self.loops: list[asyncio.Task[None]] = []

    async def record(self) -> None:
        """Report the use of workloads to the idle detector."""
        while True:
            await asyncio.sleep(RECORD_S)
            noticed = self.recorder.take(time.monotonic())
            try:
                await in_thread(activity.write_activity, self.recorder.source, self.recorder.process, noticed)
            except DatabaseError:
                self.recorder.give_back(noticed)
                log.warning("the use of workloads could not be written; it will be")

    async def check_all(self) -> None:
        """Disconnect guests whose key, account, membership or right is gone, but not because a check failed."""
        while True:
            await asyncio.sleep(CHECK_AGAIN_S)
            for door in list(self.doors):
                try:
                    await door.check()
                except DatabaseError:
                    log.warning("the database cannot say who may stay")
                except Exception:  # an error with one connection must not let all others stay for ever
                    log.exception("a connection could not be checked")


class SSHServer(asyncssh.SSHServer):
    """One connection: from the address, through the key, to an authenticated guest."""

    def __init__(self, house: ServerState) -> None:
        self.house = house
        self.address = ""
        self.user_name = ""
        self.guest: Guest | None = None
        self.is_in = False
        self.tried = False
        self.rejected = 0
        self.forwards = 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.connection = conn
        self.address = str((conn.get_extra_info("peername") or ("",))[0])
        conn.set_extra_info(door=self)
        same = sum(door.address == self.address for door in self.house.doors)
        crowded = len(self.house.doors) >= MAX_CONNECTIONS or same >= MAX_PER_ADDRESS
        self.house.doors.add(self)
        if crowded or self.house.bans.is_banned(self.address, time.monotonic()):
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.house.doors.discard(self)
        if self.tried and not self.is_in:
            self.house.bans.failed(self.address, time.monotonic())

    def begin_auth(self, username: str) -> bool:
        self.user_name = username
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Whether the key opens anything here; that the client holds it is proved after this, and only then counts."""
        self.tried = True
        self.guest = None
        try:
            self.guest = await in_thread(session_auth.authenticate, username, key.get_fingerprint(), self.address)
        except DatabaseError as error:
            self.tried = False  # nobody is banned for it
            log.warning("the front door cannot ask the database: %s", str(error).partition("\n")[0])
            self.connection.disconnect(asyncssh.DISC_SERVICE_NOT_AVAILABLE, "Try again in a few seconds")
            return False
        if self.guest is None:
            self.rejected += 1
            if self.rejected >= MAX_KEYS:
                self.connection.disconnect(asyncssh.DISC_NO_MORE_AUTH_METHODS_AVAILABLE, "Too many keys were offered")
        return self.guest is not None

    async def auth_completed(self) -> None:
        self.is_in = True
        self.house.bans.succeeded(self.address)
        if self.guest is not None:
            with suppress(DatabaseError):
                await in_thread(session_auth.record_sign_in, self.guest)

    async def check(self) -> None:
        if (
            self.is_in
            and self.guest is not None
            and not await in_checking_thread(session_auth.still_allowed, self.guest)
        ):
            self.connection.disconnect(asyncssh.DISC_BY_APPLICATION, "You may not be here any more")

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:
        guest = _guest(self)
        forwarding.check_target(guest, dest_host, dest_port)
        if self.forwards >= MAX_FORWARDS:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_RESOURCE_SHORTAGE, "Too many connections are forwarded")
        return partial(self._forward, guest, dest_port)

    async def _forward(self, guest: Guest, port: int, reader: Any, writer: Any) -> None:
        self.forwards += 1
        try:
            await forwarding.forward(guest, port, self.house.recorder, reader, writer)
        finally:
            self.forwards -= 1


def _guest(door: SSHServer) -> Guest:
    if door.guest is None or not door.is_in:
        raise asyncssh.PermissionDenied("Not signed in")
    return door.guest


def _door(channel: Any) -> SSHServer:
    door = channel.get_extra_info("door")
    if not isinstance(door, SSHServer):
        raise asyncssh.PermissionDenied("Not signed in")
    return door


async def _process(process: "asyncssh.SSHServerProcess[bytes]") -> None:
    door = _door(process)
    await sessions.serve(process, _guest(door), door.house.recorder)


def _files(channel: Any) -> Files:
    return Files(channel, _guest(_door(channel)))


async def listen(host: str, port: int, home: Path, house: ServerState) -> asyncssh.SSHAcceptor:
    """Start listening and the loops, which end with the event loop. Raises OSError if the port is taken."""
    acceptor = await asyncssh.create_server(
        lambda: SSHServer(house),
        host,
        port,
        server_host_keys=[host_key(home)],
        process_factory=_process,
        sftp_factory=_files,
        allow_scp=True,
        encoding=None,
        line_editor=False,
        agent_forwarding=False,
        x11_forwarding=False,
        compression_algs=["none"],  # inflating is done before anybody is known
        login_timeout=LOGIN_S,
        keepalive_interval=KEEPALIVE_S,
        server_version="PLStack",
        reuse_address=True,
    )
    house.loops = [asyncio.create_task(loop()) for loop in (house.record, house.check_all)]
    return acceptor


async def serve(host: str, port: int, home: Path) -> None:
    """Serve until cancelled."""
    async with await listen(host, port, home, ServerState()) as acceptor:
        await acceptor.wait_closed()
