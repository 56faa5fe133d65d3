"""The request of console views, whose actor is a member of the platform's staff."""

from apps.common.actor import Actor
from apps.common.requests import ActorRequest


class StaffRequest(ActorRequest):
    """As `common.access.requires` hands it over; the attribute is set there."""

    actor: Actor
