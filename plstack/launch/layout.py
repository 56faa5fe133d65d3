"""Where everything of one installation lives, from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plstack.launch.report import Trouble

ROOT = Path(__file__).resolve().parents[2]


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
    """0: the front door for SSH stays shut."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Layout":
        """Read PLSTACK_HOME, PLSTACK_VENV (to share one environment), PLSTACK_HOST, the ports and external URLs.

        Raises Trouble for a port that is none.
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
    def address(self) -> str:
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104  compared, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def _ssh_port(text: str) -> int:
    return 0 if text == "0" else _port("PLSTACK_SSH_PORT", text)


def _port(name: str, text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise Trouble(f"{name} must be a port number from 1 to 65535, not {text!r}")
    return int(text)
