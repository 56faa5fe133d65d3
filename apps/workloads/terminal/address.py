"""Where the SSH server is reached, for the commands that pages show."""

from os import environ

from django.conf import settings


def ssh_host(host: str) -> str:
    """`host` as the browser knows it, with or without a port, unless the operator named another."""
    named = str(getattr(settings, "PLSTACK_SSH_HOST", "") or "")
    return named or (host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host)


def ssh_port() -> int:
    """Two above the site's unless the operator chose another; 0 is off."""
    text = environ.get("PLSTACK_SSH_PORT", "")
    return int(text) if text.isdigit() else settings.PLSTACK_PORT + 2
