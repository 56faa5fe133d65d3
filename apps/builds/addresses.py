"""Addresses that ADD may fetch."""

import ipaddress
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _

from apps.builds.containerfile import Instruction


def check_address(each: Instruction, url: str) -> None:
    """What leads to a machine inside is refused at once; names are for the proxy, which looks where they lead."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise each.refused(_("%(url)s is no address.") % {"url": url[:100]}) from error
    if parts.scheme not in ("http", "https") or not host:
        raise each.refused(_("ADD fetches http and https addresses alone."))
    if parts.username or parts.password:
        raise each.refused(_("an address with a password in it would stay in the image's history."))
    try:
        is_inside = not ipaddress.ip_address(host).is_global
    except ValueError:
        is_inside = "." not in host or host.endswith((".local", ".internal", ".localhost"))
    if is_inside:
        raise each.refused(_("%(host)s is an address inside, from which nothing is fetched.") % {"host": host[:100]})
