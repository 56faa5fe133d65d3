"""Requests as views see them behind `requires`."""

from django.http import HttpRequest

from apps.common.actor import Actor


class ActorRequest(HttpRequest):
    """For types only: a request whose actor has been built and permitted."""

    actor: Actor


def address_of(request: HttpRequest) -> str | None:
    """The client's address; forwarded headers count only where the operator's proxy sets them."""
    return request.META.get("REMOTE_ADDR") or None
