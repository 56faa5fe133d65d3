"""Paths and addresses of an installation, read from environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plstack.launch.report import Trouble

ROOT = Path(__file__).resolve().parents[2]
# Half of the cores answer pages, the other half is for the database, the other processes and what runs here.
CORES_PER_WEB_PROCESS, MOST_WEB_BY_DEFAULT, MOST_WEB = 2, 4, 16


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths and addresses of one copy of the platform; `home` holds all of its state."""

    root: Path
    home: Path
    venv: Path
    host: str
    port: int
    gateway_port: int
    database_url: str = ""
    database_owner_url: str = ""
    redis_url: str = ""
    ssh_port: int = 0
    """0: no SSH server."""
    web_processes: int = 1
    origins: str = ""
    registry_url: str = ""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Layout":
        """Read PLSTACK_HOME, PLSTACK_VENV (to share one environment), PLSTACK_HOST, the ports and external URLs.

        Also how many web processes answer. Raises Trouble for an invalid port or number.
        """
        env = os.environ if environ is None else environ
        port = _port("PLSTACK_PORT", env.get("PLSTACK_PORT") or "8000")
        database_url = env.get("DATABASE_URL", "")
        home = Path(env.get("PLSTACK_HOME") or ROOT / "var").expanduser().absolute()
        return cls(
            root=ROOT,
            home=home,
            venv=Path(env.get("PLSTACK_VENV") or home / "venv").expanduser().absolute(),
            host=env.get("PLSTACK_HOST") or "127.0.0.1",
            port=port,
            gateway_port=_port("PLSTACK_GATEWAY_PORT", env.get("PLSTACK_GATEWAY_PORT") or str(port + 1)),
            database_url=database_url,
            database_owner_url=env.get("DATABASE_OWNER_URL") or database_url,
            redis_url=env.get("REDIS_URL", ""),
            ssh_port=_ssh_port(env.get("PLSTACK_SSH_PORT") or str(port + 2)),
            web_processes=_web_processes(env.get("PLSTACK_WEB_PROCESSES") or ""),
            origins=env.get("PLSTACK_ORIGINS", ""),
            registry_url=env.get("PLSTACK_REGISTRY_URL", ""),
        )

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def run(self) -> Path:
        """Locks and process ids of the running copy."""
        return self.home / "run"

    @property
    def keys(self) -> Path:
        """Markers of finished steps (see `keys`)."""
        return self.home / "keys"

    @property
    def secrets(self) -> Path:
        return self.home / "secrets"

    @property
    def origin(self) -> str:
        """The site's, as people reach it: the first of PLSTACK_ORIGINS, as in the settings."""
        named = (item.strip() for item in self.origins.split(","))
        return next(filter(None, named), f"http://localhost:{self.port}")

    @property
    def address(self) -> str:
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104  compared, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def web_names(count: int) -> list[str]:
    """What that many web processes are called, among processes, heartbeats and logs."""
    return ["web", *(f"web-{number}" for number in range(2, count + 1))]


def _web_processes(text: str) -> int:
    if not text:
        cores = len(os.sched_getaffinity(0))  # those that this process may use: a container may have fewer
        return min(max(cores // CORES_PER_WEB_PROCESS, 1), MOST_WEB_BY_DEFAULT)
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WEB:
        raise Trouble(f"PLSTACK_WEB_PROCESSES must be a number from 1 to {MOST_WEB}, not {text!r}")
    return int(text)


def _ssh_port(text: str) -> int:
    return 0 if text == "0" else _port("PLSTACK_SSH_PORT", text)


def _port(name: str, text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise Trouble(f"{name} must be a port number from 1 to 65535, not {text!r}")
    return int(text)
