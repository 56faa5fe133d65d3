"""The way out for programs in workloads: which addresses they may reach, decided once and then pinned."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.outgoing import PORTS, Pinned, Resolver, host_of, resolve_public, system_resolver
from apps.workloads.drivers import packages

OFF, PUBLIC = "off", "public"


@dataclass(frozen=True, slots=True)
class Policy:
    """`listed`: the only hosts that may be reached (".example.org": all below it), or None for any public one.

    `allow`: hosts and networks that may be reached although they are private, as `resolve_public` takes them.
    """

    listed: frozenset[str] | None = None
    allow: tuple[str, ...] = ()
    resolver: Resolver = system_resolver

    def pin(self, url: str) -> Pinned:
        """The address for an http(s) address that a program asked for; raises `Invalid` in words. May block."""
        if self.listed is not None and not self._is_listed(host_of(url)):
            raise Invalid(_("This host is not on the list of those that may be reached from here."))
        return resolve_public(url, self.allow, resolver=self.resolver)

    def _is_listed(self, host: str) -> bool:
        listed = self.listed or frozenset()
        named = {entry.rpartition(":")[0] or entry for entry in self.allow}
        above = {host[index:] for index, sign in enumerate(host) if sign == "."}
        return host in listed | named or bool(above & listed)


def policy() -> Policy | None:
    """What the installation allows (PLSTACK_EGRESS: off, public, or a list of hosts); None for nothing at all.

    The package index that this machine's pip uses is let through wherever it is, so that pip works inside.
    """
    mode = str(settings.EGRESS).strip().lower()
    if mode == OFF:
        return None
    listed = None if mode == PUBLIC else frozenset(entry.strip() for entry in mode.split(",") if entry.strip())
    return Policy(listed, (*settings.EGRESS_ALLOW, *package_indexes()))


def package_indexes() -> Iterable[str]:
    """`host:port` of the package indexes that pip is set to here."""
    for name, value in packages.settings().items():
        if name.endswith("INDEX_URL"):
            for url in map(urlsplit, value.split()):
                if url.scheme in PORTS and url.hostname:
                    yield f"{url.hostname}:{url.port or PORTS[url.scheme]}"
