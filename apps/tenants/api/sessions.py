"""The API of one's own sign-ins. In person only: a token neither sees nor ends them."""

from typing import Any

from allauth.usersessions.models import UserSession
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import IN_PERSON
from apps.common.api import ScopedView
from apps.tenants import sessions
from apps.tenants.devices import device_of


class SessionSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    browser = serializers.CharField(allow_blank=True)
    system = serializers.CharField(allow_blank=True)
    address = serializers.IPAddressField()
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    current = serializers.BooleanField(help_text="The session of this request.")


class EndedSerializer(serializers.Serializer[Any]):
    ended = serializers.IntegerField()


class SessionListView(ScopedView):
    access = IN_PERSON

    @extend_schema(tags=["me"], operation_id="me_sessions_list", responses=SessionSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Where one is signed in, the session used last first."""
        here = request._request.session.session_key
        found = [_fact(each, here) for each in sessions.own_sessions(self.actor)]
        return Response(SessionSerializer(found, many=True).data)


def _fact(each: UserSession, here: str | None) -> dict[str, Any]:
    device = device_of(each.user_agent)
    return {
        "id": each.pk,
        "browser": device.browser,
        "system": device.system,
        "address": each.ip,
        "created_at": each.created_at,
        "last_seen_at": each.last_seen_at,
        "current": each.session_key == here,
    }


class SessionView(ScopedView):
    access = IN_PERSON

    @extend_schema(
        tags=["me"], operation_id="me_sessions_end", responses={204: OpenApiResponse(description="Signed out there.")}
    )
    def delete(self, request: Request, session_id: int) -> Response:
        """Sign out on one device."""
        sessions.end(self.actor, session_id=session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class OtherSessionsView(ScopedView):
    access = IN_PERSON

    @extend_schema(tags=["me"], operation_id="me_sessions_end_others", request=None, responses=EndedSerializer)
    def post(self, request: Request) -> Response:
        """Sign out everywhere but here."""
        return Response({"ended": sessions.end_others(self.actor, keep=request._request.session.session_key)})
