"""What a console view is given: a request whose actor is a member of the platform's staff."""

from django.http import HttpRequest

from apps.common.actor import Actor


class StaffRequest(HttpRequest):
    """As `common.access.requires` hands it over; the attribute is set there."""

    actor: Actor
