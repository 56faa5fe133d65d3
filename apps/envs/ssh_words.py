"""How to reach an environment by SSH: the commands to copy, and what is missing."""

from dataclasses import dataclass

from apps.common.actor import Actor
from apps.envs.models import Environment
from apps.tenants.models import SshKey
from apps.workloads.terminal.address import ssh_host, ssh_port


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
    name, port = ssh_host(host), ssh_port()
    return Access(
        host=name,
        port=port,
        command=f"ssh {environment.code}@{name} -p {port}",
        copy=f"scp -P {port} results.csv {environment.code}@{name}:",
        config=f"Host {environment.code}\n    HostName {name}\n    Port {port}\n    User {environment.code}\n",
        has_key=SshKey.objects.filter(user_id=actor.person()).exists(),
    )
