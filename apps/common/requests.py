"""Requests as views see them behind `requires`."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from apps.common.actor import Actor


class ActorRequest(HttpRequest):
    """For types only: a request whose actor has been built and permitted."""

    actor: Actor


def address_of(request: HttpRequest) -> str | None:
    """The client's address; forwarded headers count only where the operator's proxy sets them."""
    return request.META.get("REMOTE_ADDR") or None


LONGEST_RETURN = 2000


def safe_return(request: HttpRequest, wanted: str, otherwise: str = "/") -> str:
    """The address to go back to if it is one of this site's, `otherwise` where it is none."""
    is_address = wanted.startswith(("/", "http://", "https://")) and len(wanted) <= LONGEST_RETURN
    return wanted if is_address and url_has_allowed_host_and_scheme(wanted, {request.get_host()}) else otherwise
