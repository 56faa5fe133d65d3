"""Names of hosts: each service has one of its own below the gateway's domain, beside those of workloads' ports."""

import re
from urllib.parse import urlsplit

from django.conf import settings

from apps.workloads.gateway import hosts

LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def label_of(host: str) -> str | None:
    """The service's label in a Host header; None for a workload's port and for any other name."""
    label, _dot, rest = host.lower().partition(".")
    if rest != _domain() or not LABEL.fullmatch(label) or hosts.parse(host) is not None:
        return None
    return label


def netloc(label: str) -> str:
    return f"{label}.{_domain()}"


def origin(label: str) -> str:
    """Where programs find the service."""
    return f"{urlsplit(settings.GATEWAY_ORIGIN).scheme}://{netloc(label)}"


def _domain() -> str:
    return urlsplit(settings.GATEWAY_ORIGIN).netloc
