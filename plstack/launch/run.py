"""`make run`: start the platform from a bare checkout and supervise it."""

import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from plstack.launch import environment, frontend, preflight, prepare
from plstack.launch.closing import close_home
from plstack.launch.collecting import Collector
from plstack.launch.files import tail
from plstack.launch.layout import Layout, web_names
from plstack.launch.management import services_of
from plstack.launch.postgres import Postgres
from plstack.launch.prepare import FirstAdmin, Services
from plstack.launch.registry import Registry
from plstack.launch.registry import program as registry_program
from plstack.launch.report import Reporter, Step, Trouble
from plstack.launch.reserve import Reserve
from plstack.launch.spawn import last_line
from plstack.launch.supervisor import Server, Supervisor
from plstack.launch.valkey import Valkey

STEPS = 7
ANSWER_SECONDS = 60.0


@dataclass(slots=True)
class StopRequests:
    """Counts SIGINT, SIGTERM and SIGHUP: the first aborts a start, the second one forces a stop."""

    count: int = 0
    abort: bool = True

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # keep SIGHUP ignored under nohup
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.abort:
            raise KeyboardInterrupt


@dataclass(slots=True)
class Background:
    """A thread whose exception `join` raises again."""

    work: Callable[[], None]
    failure: BaseException | None = None
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.work()
        except BaseException as failure:
            self.failure = failure

    def is_done(self, patience: float) -> bool:
        """Whether it has succeeded, after waiting for at most that many seconds."""
        self.thread.join(patience)
        return not self.thread.is_alive() and self.failure is None

    def join(self) -> None:
        while self.thread.is_alive():
            self.thread.join(0.2)  # in slices, so that Ctrl-C is heard
        if self.failure:
            raise self.failure


def run(layout: Layout) -> int:
    """Start everything and supervise it until told to stop. Raises Trouble when it cannot start."""
    reporter = Reporter(STEPS)
    requests = StopRequests()
    requests.listen()
    with ExitStack() as cleanup:
        platform = _Startup(layout, reporter, cleanup).bring_up()
        requests.abort = False
        platform.run(lambda: requests.count > 0)
        reporter.line("Stopping. Running work goes on and is found again at the next start.")
        platform.stop(lambda: requests.count > 1)
    reporter.line("Stopped.")
    return 0


class _Startup:
    """The steps of a start, and the cleanup if one of them fails."""

    def __init__(self, layout: Layout, reporter: Reporter, cleanup: ExitStack) -> None:
        self.layout, self.reporter, self.cleanup = layout, reporter, cleanup
        self.servers: list[Server] = []
        self.registry: Registry | None = None
        self.collector: Collector | None = None

    def bring_up(self) -> Supervisor:
        self._check()
        front_end = self._install()
        postgres, valkey = self._start_servers()
        self.registry = self._start_registry()
        services = services_of(self.layout, postgres, valkey, self.registry)
        supervisor = Supervisor(
            self.layout, prepare.process_environment(self.layout, services), self.servers, self.reporter.line
        )
        self.cleanup.callback(supervisor.stop, lambda: True)
        if self.collector:
            supervisor.tickers.append(self.collector.tick)
        if postgres:
            supervisor.reserves.append(Reserve(postgres.base / "postgres-reserve", self.reporter.line))
        admin = self._prepare(services, supervisor, front_end, postgres, valkey)
        with self.reporter.step("Processes") as step:
            supervisor.await_loaded()
            _await_answer(supervisor)
            names = [*web_names(self.layout.web_processes), "gateway", "worker", "scheduler", "files", "beat"]
            step.outcome = ", ".join([*names, *(["ssh"] if self.layout.ssh_port else [])])
        self._welcome(admin)
        return supervisor

    def _check(self) -> None:
        with self.reporter.step("Checks") as step:
            preflight.check_python()
            preflight.check_home(self.layout.home)
            self.cleanup.callback(os.close, preflight.take_lock(self.layout))
            preflight.await_predecessor(self.layout)
            ports = {
                "PLSTACK_PORT": self.layout.port,
                "PLSTACK_GATEWAY_PORT": self.layout.gateway_port,
                "PLSTACK_SSH_PORT": self.layout.ssh_port,
            }
            preflight.check_ports_differ(ports)
            for variable, port in ports.items():
                if port:
                    preflight.check_port(self.layout.host, port, variable)
            preflight.check_disk(self.layout.home, first=not environment.is_ready(self.layout, "quickstart"))
            close_home(self.layout.home)
            step.outcome = f"Python, {self.layout.home}, ports {self.layout.port} and {self.layout.gateway_port}"

    def _install(self) -> Background:
        """Install the Python packages, and build the front end in the background as soon as there is a Node.js."""
        node = frontend.system_node() if not frontend.is_built(self.layout.root) else None
        if node:
            front_end = Background(lambda: self._front_end(lambda step: node))
        with self.reporter.step("Python packages") as step:
            environment.ensure(self.layout, "quickstart", step)
        return front_end if node else Background(lambda: self._front_end(self._node_from_pip))

    def _front_end(self, node_folder: Callable[[Step], Path]) -> None:
        with self.reporter.step("Front end") as step:
            frontend.build(self.layout.root, node_folder, step)

    def _node_from_pip(self, step: Step) -> Path:
        environment.ensure(self.layout, "node", step)
        return self.layout.venv / "bin"

    def _start_servers(self) -> tuple[Postgres | None, Valkey | None]:
        postgres = None if self.layout.database_url else Postgres.from_layout(self.layout)
        valkey = None if self.layout.redis_url else Valkey.from_layout(self.layout)
        if postgres:
            self.cleanup.callback(postgres.stop)
            self.servers.append(Server("Postgres", lambda: _is_running(postgres), lambda: _prepare_and_start(postgres)))
        if valkey:
            self.cleanup.callback(valkey.stop)
            self.servers.append(Server("Redis", lambda: _is_running(valkey), valkey.start))
        return postgres, valkey

    def _start_registry(self) -> Registry | None:
        """The registry of container images, where its program is installed and no other one is to be used."""
        if self.layout.registry_url or registry_program() is None:
            return None
        registry = Registry.from_layout(self.layout)
        self.cleanup.callback(registry.stop)
        try:
            registry.start()
        except (Trouble, OSError) as trouble:  # all else works without it, and it is tried again
            self.reporter.line(str(trouble))
        self.collector = collector = Collector(registry, self.reporter.line)
        self.cleanup.callback(collector.abandon)
        self.servers.append(Server("Image registry", collector.is_alive, registry.start))
        return registry

    def _prepare(
        self,
        services: Services,
        supervisor: Supervisor,
        front_end: Background,
        postgres: Postgres | None,
        valkey: Valkey | None,
    ) -> FirstAdmin | None:
        """Prepare the site. If nothing is out of date, the platform's code is loaded while the servers start."""
        with self.reporter.step("Postgres") as step:
            step.outcome = _start_postgres(postgres)
            if valkey:
                valkey.start()
            early = front_end.is_done(0.5) and not prepare.outdated(self.layout, services)
            if early:
                supervisor.load()
            if postgres:
                postgres.await_ready()
        with self.reporter.step("Redis") as step:
            step.outcome = "ready" if valkey else "external, from REDIS_URL"
            if valkey:
                valkey.await_ready()
        front_end.join()
        with self.reporter.step("Site") as step:
            admin = prepare.prepare(self.layout, services, prepare.outdated(self.layout, services), step)
        if not early:
            supervisor.load()
        return admin

    def _welcome(self, admin: FirstAdmin | None) -> None:
        say = self.reporter.line
        say("")
        say(f"PLStack is ready after {self.reporter.elapsed():.1f} s: {self.layout.address}")
        if admin:
            say(f"First administrator: {admin.username}   password: {admin.password}   (shown only now)")
        if self.layout.host not in {"127.0.0.1", "localhost", "::1"}:
            say("It listens beyond this machine, in plain HTTP: name its hosts in PLSTACK_HOSTS, put TLS in front.")
            say(f"Environments open on port {self.layout.gateway_port}: set PLSTACK_GATEWAY_ORIGIN to a name for it.")
        say("Stop it with Ctrl-C, or with `make stop` from elsewhere.")


def _is_running(server: Postgres | Valkey) -> bool:
    return server.process is not None and server.process.poll() is None


def _start_postgres(postgres: Postgres | None) -> str:
    """Start Postgres; returns the outcome to print."""
    if postgres is None:
        return "external, from DATABASE_URL"
    outcome = "new database" if postgres.is_new() else "ready"
    _prepare_and_start(postgres)
    # Whoever backs up the home must know if the data is elsewhere.
    return outcome if postgres.base == postgres.layout.home else f"{outcome}, in {postgres.base}"


def _prepare_and_start(postgres: Postgres) -> None:
    postgres.prepare()
    postgres.start()


def _await_answer(supervisor: Supervisor) -> None:
    """Wait until the first page answers. Raises Trouble with the web process' last log line if it does not."""
    deadline = time.monotonic() + ANSWER_SECONDS
    log = supervisor.layout.logs / "web.log"
    while not _answers(supervisor.layout.address):
        supervisor.run_once(0.05)
        if time.monotonic() > deadline or supervisor.backoffs["web"].failures > 2:
            raise Trouble(f"the web process does not answer: {last_line(tail(log), 'Error', 'ERROR')} (log: {log})")


def _answers(address: str) -> bool:
    # The header that a TLS proxy would send; sites that are not behind TLS ignore it.
    page = urllib.request.Request(address + "/", headers={"X-Forwarded-Proto": "https"})  # noqa: S310  our own address
    try:
        with urllib.request.urlopen(page, timeout=5):  # noqa: S310  our own address
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False
