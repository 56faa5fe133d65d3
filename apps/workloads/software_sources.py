"""Where workloads download software from, as the platform's staff choose it: one setting for pip, npm, and the way out.

It is used alike by whoever prepares runtimes, by programs inside, and by the proxy that leads them out.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import SplitResult, urlsplit

from cryptography import x509
from django.utils.translation import gettext as _

from apps.common.errors import Invalid
from apps.tenants import settings
from apps.workloads.drivers.base import SoftwareSources

LONGEST = 2000
MOST_CERTIFICATES = 64 * 1024
_HOST = re.compile(r"[A-Za-z0-9.\-:\[\]]+")
_EXCEPTION = re.compile(r"\*|[A-Za-z0-9.\-:\[\]/]+")


@dataclass(frozen=True, slots=True)
class SourceSettings(SoftwareSources):
    """What staff typed. Nothing here may be secret: all of it is told to everybody's programs."""

    KEY: ClassVar[str] = "software_sources"

    def validate(self) -> None:
        """Raises `Invalid` with the fields at fault."""
        found: dict[str, Any] = {}
        for check in (self._check_addresses, self._check_hosts, self._check_proxy, self._check_certificates):
            try:
                check()
            except Invalid as error:
                found |= error.fields
        if found:
            raise Invalid(next(iter(found.values())), fields=found)

    def _check_addresses(self) -> None:
        for name in ("pip_index", "pip_extra_indexes", "npm_registry"):
            addresses = getattr(self, name).split()
            if len(addresses) > 1 and name != "pip_extra_indexes":
                raise Invalid.field(name, _("Give one address."))
            for address in addresses:
                _check_address(name, address)

    def _check_hosts(self) -> None:
        for name in ("pip_trusted_hosts", "file_hosts"):
            for host in getattr(self, name).split():
                if not _HOST.fullmatch(host):
                    raise Invalid.field(name, _("“%(host)s” is not a host.") % {"host": host})

    def _check_proxy(self) -> None:
        if self.proxy:
            parts = _check_address("proxy", self.proxy)
            if parts.scheme != "http" or parts.path not in ("", "/") or parts.query:
                raise Invalid.field("proxy", _("Give it as http://host:port."))
        for host in self.no_proxy.split(","):
            if host.strip() and not _EXCEPTION.fullmatch(host.strip()):
                raise Invalid.field("no_proxy", _("“%(host)s” is not a host.") % {"host": host.strip()})

    def _check_certificates(self) -> None:
        text = self.certificates
        if not text.strip():
            return
        if "PRIVATE KEY" in text:
            raise Invalid.field("certificates", _("This has a private key in it. Give the certificates alone."))
        if len(text) > MOST_CERTIFICATES:
            raise Invalid.field("certificates", _("These are more than 64 KiB."))
        try:
            x509.load_pem_x509_certificates(text.encode())
        except ValueError:
            raise Invalid.field(
                "certificates", _("These are not certificates in PEM form (-----BEGIN CERTIFICATE-----).")
            ) from None


def _check_address(name: str, address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise Invalid.field(name, _("This is not a web address.")) from None
    if parts.username or parts.password:
        raise Invalid.field(
            name,
            _("Leave user name and password out: everybody's programs are told this address. Let it be read freely."),
        )
    plain = address.isascii() and all("!" <= sign <= "~" and sign not in "\\\"'`$" for sign in address)
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not plain or len(address) > LONGEST:
        raise Invalid.field(name, _("This is not a web address."))
    return parts


def chosen() -> SoftwareSources:
    """What the settings say; empty where they leave it to each machine."""
    kept = settings.get(SourceSettings)
    return SoftwareSources(
        pip_index=kept.pip_index.strip(),
        pip_extra_indexes=" ".join(kept.pip_extra_indexes.split()),
        pip_trusted_hosts=" ".join(kept.pip_trusted_hosts.split()),
        npm_registry=kept.npm_registry.strip(),
        file_hosts=" ".join(kept.file_hosts.split()),
        certificates=kept.certificates.strip(),
        proxy=kept.proxy.strip().rstrip("/"),
        no_proxy=",".join(host.strip() for host in kept.no_proxy.split(",") if host.strip()),
    )
