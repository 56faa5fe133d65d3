"""Names of hosts: each port of each workload has one of its own below the gateway's domain.

`<workload's id in hex>.<domain>` is the first port that it declares, `<port's name>-<hex>.<domain>` any other.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

LABEL = re.compile(r"(?:([a-z](?:[a-z0-9-]{0,22}[a-z0-9])?)-)?([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Address:
    """A workload and the name of one of its ports; an empty name is the first."""

    workload_id: UUID
    port: str = ""

    @property
    def label(self) -> str:
        return f"{self.port}-{self.workload_id.hex}" if self.port else self.workload_id.hex


def is_secure() -> bool:
    """Whether browsers come over TLS."""
    return str(settings.GATEWAY_ORIGIN).startswith("https://")


def netloc(address: Address) -> str:
    """What a browser sends as Host to reach the address."""
    return f"{address.label}.{urlsplit(settings.GATEWAY_ORIGIN).netloc}"


def origin(address: Address) -> str:
    return f"{urlsplit(settings.GATEWAY_ORIGIN).scheme}://{netloc(address)}"


def parse(host: str) -> Address | None:
    """The address behind a Host header; None for any other name or port (DNS rebinding comes with foreign names)."""
    label, _, rest = host.lower().partition(".")
    if rest != urlsplit(settings.GATEWAY_ORIGIN).netloc:
        return None
    found = LABEL.fullmatch(label)
    return Address(UUID(hex=found[2]), found[1] or "") if found else None
