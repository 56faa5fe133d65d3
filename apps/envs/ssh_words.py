"""How to reach an environment by SSH: the lines to copy, and what is missing."""

from dataclasses import dataclass
from os import environ

from django.conf import settings

from apps.common.actor import Actor
from apps.envs.models import Environment
from apps.tenants.models import SshKey


@dataclass(frozen=True, slots=True)
class Access:
    """`has_key`: the actor has a public key to come in with. `port` 0: the front door is switched off."""

    host: str
    port: int
    command: str
    copy: str
    config: str
    has_key: bool


def access(actor: Actor, environment: Environment, host: str) -> Access:
    """`host` as the browser knows it, with or without a port."""
    name, port = _host(host), _port()
    return Access(
        host=name,
        port=port,
        command=f"ssh {environment.code}@{name} -p {port}",
        copy=f"scp -P {port} results.csv {environment.code}@{name}:",
        config=f"Host {environment.code}\n    HostName {name}\n    Port {port}\n    User {environment.code}\n",
        has_key=SshKey.objects.filter(user_id=actor.person()).exists(),
    )


def _host(host: str) -> str:
    named = str(getattr(settings, "PLSTACK_SSH_HOST", "") or "")
    return named or (host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host)


def _port() -> int:
    """The front door's port: two above the site's unless the operator chose another; 0 is off."""
    text = environ.get("PLSTACK_SSH_PORT", "")
    return int(text) if text.isdigit() else settings.PLSTACK_PORT + 2
