"""Find the parts of the site (database, static files, messages) that are out of date, and prepare them."""

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from plstack.launch import keys
from plstack.launch.environment import lock_file
from plstack.launch.layout import Layout
from plstack.launch.report import Step, Trouble
from plstack.launch.spawn import last_line, run_captured

PASSWORD = "PLSTACK_ADMIN_PASSWORD"  # noqa: S105  the name of a variable
# The environment of a process stays readable for its whole life; only the preparation needs these.
ONLY_TO_PREPARE = {"DATABASE_OWNER_URL", PASSWORD}


@dataclass(frozen=True, slots=True)
class Services:
    """Addresses of the servers; the owner migrates, the processes only know the limited role."""

    database_url: str
    database_owner_url: str
    redis_url: str
    # The file with the key of the database's last preparation; None for an external server.
    database_marker: Path | None
    # Of the embedded registry; empty where there is none.
    registry_socket: str = ""


@dataclass(frozen=True, slots=True)
class FirstAdmin:
    """The account that the very first start makes; its password is shown once and stored only as a hash."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to prepare, the key of its inputs, and where the key of the last success lies."""

    name: str
    key: str
    marker: Path | None


def process_environment(layout: Layout, services: Services) -> dict[str, str]:
    """The environment of every platform process: the caller's variables and the copy's own addresses."""
    env = {name: value for name, value in os.environ.items() if name not in ONLY_TO_PREPARE}
    return {
        **env,
        "DJANGO_SETTINGS_MODULE": env.get("DJANGO_SETTINGS_MODULE") or "plstack.settings.embedded",
        "PLSTACK_HOME": str(layout.home),
        "PLSTACK_HOST": layout.host,
        "PLSTACK_PORT": str(layout.port),
        "PLSTACK_GATEWAY_PORT": str(layout.gateway_port),
        "PLSTACK_SSH_PORT": str(layout.ssh_port),
        "PLSTACK_WEB_PROCESSES": str(layout.web_processes),
        # Which of several copies on one database this one is.
        "PLSTACK_INSTANCE": env.get("PLSTACK_INSTANCE") or f"{socket.gethostname()}:{layout.port}",
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "PLSTACK_REGISTRY_SOCKET": services.registry_socket,
        # Linear algebra here is small; idle thread pools would cost memory in every process.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        # glibc gives each thread an arena of its own and returns little of them.
        "MALLOC_ARENA_MAX": "2",
    }


def outdated(layout: Layout, services: Services) -> list[Part]:
    """The parts whose inputs changed since they were last prepared."""
    return [part for part in _parts(layout, services) if not (part.marker and keys.is_current(part.marker, part.key))]


def prepare(layout: Layout, services: Services, parts: list[Part], step: Step) -> FirstAdmin | None:
    """Bring the parts up to date in one process with Django. Raises Trouble with its last words."""
    if not parts:
        step.outcome = "unchanged"
        return None
    for part in parts:
        if part.marker:
            keys.drop(part.marker)
    env = {**process_environment(layout, services), "DATABASE_OWNER_URL": services.database_owner_url}
    if PASSWORD in os.environ:
        env[PASSWORD] = os.environ[PASSWORD]
    argv = [layout.python, "-m", "plstack.launch.install", *(part.name for part in parts)]
    done = run_captured(argv, cwd=layout.root, env=env)
    (layout.logs / "install.log").write_text(done.stdout)
    if done.returncode:
        raise Trouble(f"the site could not be prepared: {last_line(done.stdout)} (log: {layout.logs / 'install.log'})")
    for part in parts:
        if part.marker:
            keys.write(part.marker, part.key)
    step.outcome = ", ".join(part.name for part in parts) + " prepared"
    return _first_admin(done.stdout)


def _parts(layout: Layout, services: Services) -> list[Part]:
    root, lock = layout.root, lock_file(layout, "quickstart")
    schema = [
        *root.glob("apps/*/migrations/*.py"),
        *root.glob("apps/*/sql/*.sql"),
        *root.glob("apps/*/apps.py"),
        *root.glob("apps/*/management/**/*.py"),
    ]
    patterns = ("first_data*", "examples", "platform_images.py", "recipes")
    first_data = [path for pattern in patterns for path in root.glob(f"apps/*/{pattern}")]
    static = [root / "static/dist/.key", root / "static/img"]
    return [
        Part("messages", keys.hash_files(root.glob("locale/*/LC_MESSAGES/*.po")), layout.keys / "messages"),
        Part("static", keys.hash_files([*static, lock]), layout.keys / "static"),
        Part("database", keys.hash_files([*schema, *first_data, lock]), services.database_marker),
    ]


def _first_admin(output: str) -> FirstAdmin | None:
    """first_data prints the new administrator as a line of JSON, once in the life of a database."""
    for line in output.splitlines():
        if line.startswith("{") and '"password"' in line:
            told = json.loads(line)
            return FirstAdmin(told["username"], told["password"])
    return None
