"""Requests as views see them behind `requires`."""

from django.http import HttpRequest

from apps.common.actor import Actor


class ActorRequest(HttpRequest):
    """For types only: a request whose actor has been built and permitted."""

    actor: Actor
