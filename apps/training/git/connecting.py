"""The way to the server of a repository: where it may lead, what is trusted there, and what logs in."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from django.conf import settings

from apps.common.errors import Invalid
from apps.common.outgoing import NotPublic, PortRefused, UnknownName
from apps.training.git.confinement import Workshop
from apps.training.git.origin import Wanted
from apps.training.git.problems import Failed, Problem
from apps.training.git.remote import Remote, finished
from apps.training.git.ssh import client
from apps.training.git.ssh.address import PORTS, SshAddress, ssh_address
from apps.training.git.ssh.host_keys import HostKey
from apps.training.git.tunnel import tunnel
from apps.workloads.drivers.software_sources import bundle, of_machine
from apps.workloads.gateway import egress
from apps.workloads.software_sources import chosen

Login: TypeAlias = str | client.SshLogin
"""The password or token, "" for none; or what SSH needs."""


def host_shown(address: str) -> str:
    """With its port where that is not the usual one."""
    over_ssh = ssh_address(address)
    return urlsplit(address).netloc if over_ssh is None else over_ssh.shown


@contextmanager
def remote(shop: Workshop, wanted: Wanted, login: Login) -> Iterator[Remote]:
    """The repository, while the way to it is open."""
    over_ssh = ssh_address(wanted.address)
    if over_ssh is not None and isinstance(login, client.SshLogin):
        way, command = _ssh_way(over_ssh), client.logging_in(shop, over_ssh, login)
        with tunnel(way, shop.way, asks=False) as opened:
            yield Remote(shop, wanted.address, {}, opened, command)
        return
    way, config = _way(wanted.address), _network(shop, wanted, str(login))
    with tunnel(way, shop.way) as opened:
        yield Remote(shop, wanted.address, config, opened)


def look(shop: Workshop, url: str, address: SshAddress) -> HostKey:
    """The key that the server shows. Raises `Failed`."""
    with tunnel(_ssh_way(address), shop.way, asks=False) as opened:
        ended, key = client.look(shop, address, url)
        if key is None:
            finished(ended, opened)
            raise Failed(Problem.BROKEN)
    return key


def _ssh_way(address: SshAddress) -> egress.Way:
    if not client.is_installed():
        raise Failed(Problem.NO_SSH)
    return _way(address.as_web, PORTS)


def _way(url: str, ports: tuple[int, ...] | None = None) -> egress.Way:
    """What programs in runs may reach, a repository may be fetched from: one rule, one setting."""
    allowed = egress.policy()
    if allowed is None:
        raise Failed(Problem.NO_EGRESS)
    sources = chosen().over(of_machine())
    try:
        return replace(allowed, sources=lambda: sources).way(url, ports)
    except egress.NotListed as error:
        raise Failed(Problem.NOT_LISTED) from error
    except UnknownName as error:
        raise Failed(Problem.NO_HOST) from error
    except NotPublic as error:
        raise Failed(Problem.NOT_PUBLIC) from error
    except PortRefused as error:
        if ports is not None:
            raise Failed(Problem.SSH_PORT) from error
        raise Invalid.field("address", error.message, hint=error.hint) from error
    except Invalid as error:
        raise Invalid.field("address", error.message, hint=error.hint) from error


def _network(shop: Workshop, wanted: Wanted, password: str) -> dict[str, str]:
    """The authorities that staff trust for software sources; and the login, for this host alone."""
    found = {}
    if trusted := bundle(chosen(), Path(settings.PLSTACK_HOME)):
        shop.authorities.write_bytes(Path(trusted).read_bytes())
        shop.authorities.chmod(0o644)
        found["http.sslCAInfo"] = shop.inside(shop.authorities)
    if password:
        basic = base64.b64encode(f"{wanted.username}:{password}".encode()).decode()
        host = f"https://{urlsplit(wanted.address).netloc}/"
        found[f"http.{host}.extraHeader"] = f"Authorization: Basic {basic}"
    return found
