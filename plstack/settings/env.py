"""Read settings from environment variables, with errors that name the variable."""

import os
import re
import secrets
import socket
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def value(name: str, default: str) -> str:
    return os.environ.get(name) or default


def flag(name: str, *, default: bool = False) -> bool:
    return value(name, "on" if default else "").lower() in {"1", "true", "yes", "on"}


def names(name: str, default: str) -> list[str]:
    return [item.strip() for item in value(name, default).split(",") if item.strip()]


def home(base: Path) -> Path:
    return Path(value("PLSTACK_HOME", str(base / "var"))).expanduser().resolve()


def port(name: str = "PLSTACK_PORT", default: int = 8000) -> int:
    text = value(name, str(default))
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise ImproperlyConfigured(f"{name} must be a port number, not {text!r}.")
    return int(text)


def instance() -> str:
    """The id of this copy among several: PLSTACK_INSTANCE, else its host or container name."""
    return value("PLSTACK_INSTANCE", socket.gethostname())


def number(name: str, default: int, least: int = 0) -> int:
    text = value(name, str(default))
    if not text.isdecimal() or int(text) < least:
        at_least = f" of at least {least}" if least else ""
        raise ImproperlyConfigured(f"{name} must be a whole number{at_least}, not {text!r}.")
    return int(text)


def ssh_port(web_port: int) -> int:
    """The SSH server's port; 0 for no SSH server."""
    return 0 if value("PLSTACK_SSH_PORT", "") == "0" else port("PLSTACK_SSH_PORT", web_port + 2)


def gateway_port(web_port: int) -> int:
    return port("PLSTACK_GATEWAY_PORT", web_port + 1)


def gateway_origin(own_port: int) -> str:
    """`scheme://domain[:port]` below which workloads are reached: PLSTACK_GATEWAY_ORIGIN where something in front
    ends TLS or maps the port, else plain HTTP on PLSTACK_GATEWAY_DOMAIN (apps.localhost) and the gateway's own port.
    """
    default = f"http://{value('PLSTACK_GATEWAY_DOMAIN', 'apps.localhost')}:{own_port}"
    origin = value("PLSTACK_GATEWAY_ORIGIN", default).rstrip("/").lower()
    if not re.fullmatch(r"https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?", origin):
        raise ImproperlyConfigured(f"The gateway's origin must look like https://apps.example.com, not {origin!r}.")
    return origin


def on_loopback() -> bool:
    """Whether the site listens where only this machine can reach it."""
    return value("PLSTACK_HOST", "127.0.0.1") in {"127.0.0.1", "localhost", "::1"}


def listening_host() -> str:
    """The host in the address at which programs of this machine reach the site."""
    host = value("PLSTACK_HOST", "127.0.0.1")
    if host in {"0.0.0.0", "::"}:  # noqa: S104  compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def is_behind_tls() -> bool:
    """Whether people reach the site by https alone."""
    origins = names("PLSTACK_ORIGINS", "")
    return bool(origins) and all(origin.lower().startswith("https://") for origin in origins)


def secret_key(home_dir: Path) -> str:
    """The installation's own key: from PLSTACK_SECRET_KEY, else from `secrets/django` (made once, mode 0600)."""
    given = os.environ.get("PLSTACK_SECRET_KEY")
    if given:
        return given
    path = home_dir / "secrets" / "django"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:  # another process of the same installation was first
            return path.read_text().strip()
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(64))
    return path.read_text().strip()


def database(variable: str = "DATABASE_URL") -> dict[str, Any]:
    """Django's settings for `postgresql://user:password@host:port/name?host=/socket/dir`."""
    url = urlsplit(value(variable, "postgresql:///plstack"))
    if url.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"{variable} must start with postgresql://.")
    query = dict(parse_qsl(url.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.lstrip("/")) or "plstack",
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": query.pop("host", "") or unquote(url.hostname or ""),
        "PORT": str(url.port or query.pop("port", "")),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": {"connect_timeout": 5, **query},
    }


def redis_url() -> str:
    return value("REDIS_URL", "redis://localhost:6379/0")


def celery_broker(url: str) -> str:
    """Celery spells a unix socket `redis+socket://`, redis-py spells it `unix://`."""
    return url.replace("unix://", "redis+socket://", 1) if url.startswith("unix://") else url
