"""The way out for programs in workloads: which addresses they may reach, decided once and then pinned."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connections
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.outgoing import PinnedTarget, Resolver, host_of, resolve_public, system_resolver
from apps.workloads import software_sources
from apps.workloads.drivers.base import SoftwareSources
from apps.workloads.drivers.software_sources import DEFAULT_PORTS, of_machine

log = logging.getLogger(__name__)

OFF, PUBLIC = "off", "public"
FRESH_S = 3.0


class NotListed(Invalid):
    """The installation lets programs reach a list of hosts, and this is none of them."""


@dataclass(frozen=True, slots=True)
class Way:
    """`target`: what was asked for. `proxy`: host and port of the operator's proxy through which it is reached."""

    target: PinnedTarget
    proxy: tuple[str, int] | None = None


class Leads(Protocol):
    """Decides what may be reached."""

    def way(self, url: str, ports: Iterable[int] | None = None) -> Way: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """`listed`: the only hosts that may be reached (".example.org": all below it), or None for any public one.

    `allow`: hosts and networks that may be reached although they are private, as `resolve_public` takes them.
    `sources`: asked for each connection; its hosts are let through wherever they are, so that pip works inside.
    """

    listed: frozenset[str] | None = None
    allow: tuple[str, ...] = ()
    resolver: Resolver = system_resolver
    sources: Callable[[], SoftwareSources] = field(default=SoftwareSources, compare=False)

    def way(self, url: str, ports: Iterable[int] | None = None) -> Way:
        """For an http(s) address that a program asked for; raises `Invalid` in words. May block.

        `ports`: on which any host may be asked, as `resolve_public` takes them.
        """
        sources = self.sources()
        allow = (*self.allow, *sources.hosts)
        host = host_of(url)
        if self.listed is not None and not self._is_listed(host, allow):
            raise NotListed(_("This host is not on the list of those that may be reached from here."))
        proxy = None if is_direct(host, sources.no_proxy) else address_of(sources.proxy)
        target = resolve_public(url, allow, ports=ports, resolver=self.resolver, unknown_names=proxy is not None)
        return Way(target, proxy)

    def _is_listed(self, host: str, allow: tuple[str, ...]) -> bool:
        listed = self.listed or frozenset()
        named = {entry.rpartition(":")[0] or entry for entry in allow}
        above = {host[index:] for index, sign in enumerate(host) if sign == "."}
        return host in listed | named or bool(above & listed)


def is_direct(host: str, no_proxy: str) -> bool:
    """As curl reads it: "*" is all, "example.org" and ".example.org" are that host and all below it."""
    names = [name.strip().lower().lstrip(".") for name in no_proxy.split(",") if name.strip()]
    return any(name in ("*", host) or host.endswith(f".{name}") for name in names)


def address_of(proxy: str) -> tuple[str, int] | None:
    parts = urlsplit(proxy)
    return (parts.hostname, parts.port or DEFAULT_PORTS["http"]) if parts.hostname else None


@dataclass(slots=True)
class RecentSources:
    """What is chosen now, at most some seconds old; called from threads."""

    _value: SoftwareSources | None = None
    _until: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def __call__(self) -> SoftwareSources:
        with self._lock:
            if self._value is None or time.monotonic() > self._until:
                self._value = self._read()
                self._until = time.monotonic() + FRESH_S
            return self._value

    def _read(self) -> SoftwareSources:
        try:
            return software_sources.chosen().over(of_machine())
        except DatabaseTrouble:
            log.warning("The settings of the software sources cannot be read; those of before stay.")
            return self._value or of_machine()
        finally:
            connections.close_all()


def policy() -> Policy | None:
    """What the installation allows (PLSTACK_EGRESS: off, public, or a list of hosts); None for nothing at all."""
    mode = str(settings.EGRESS).strip().lower()
    if mode == OFF:
        return None
    listed = None if mode == PUBLIC else frozenset(entry.strip() for entry in mode.split(",") if entry.strip())
    return Policy(listed, tuple(settings.EGRESS_ALLOW), sources=RecentSources())
