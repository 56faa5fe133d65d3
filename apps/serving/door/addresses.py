"""Names of hosts: each service and each organisation has one of its own below the gateway's domain.

A service's ends with hexadecimal digits, so that none is taken for an organisation's.
"""

import re
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from apps.workloads.gateway import hosts

ORGANISATION = re.compile(r"([0-9a-f]{32})-models")
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def label_of(host: str) -> str | None:
    """The label of a service or an organisation in a Host header; None for a workload's port and any other name."""
    label, _dot, rest = host.lower().partition(".")
    if rest != _domain() or not LABEL.fullmatch(label) or hosts.parse(host) is not None:
        return None
    return label


def label_of_organisation(organisation_id: UUID) -> str:
    return f"{organisation_id.hex}-models"


def organisation_of(label: str) -> UUID | None:
    """The organisation whose own address this is; None for a service's."""
    found = ORGANISATION.fullmatch(label)
    return UUID(found[1]) if found else None


def netloc(label: str) -> str:
    return f"{label}.{_domain()}"


def origin(label: str) -> str:
    """Where programs find what has this label."""
    return f"{urlsplit(settings.GATEWAY_ORIGIN).scheme}://{netloc(label)}"


def _domain() -> str:
    return urlsplit(settings.GATEWAY_ORIGIN).netloc
