"""The API about oneself."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import SELF
from apps.common.api import ScopedView
from apps.tenants import emails, services
from apps.tenants.actors import memberships
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.tenants.selectors import own_limits


class MembershipSerializer(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField()
    organisation = serializers.CharField(source="organisation.name")
    department = serializers.CharField(source="department.name", allow_null=True, default=None)
    role = serializers.ChoiceField(choices=Role.choices)
    priority = serializers.IntegerField()


class LimitSerializer(serializers.Serializer[Any]):
    """`limit` null: unlimited. Units: thousandths of a core, MiB, thousandths of a card, pieces.

    `model`: of this accelerator model only; empty for all together.
    """

    resource = serializers.CharField(source="resource.value")
    model = serializers.CharField()
    used = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True)


class MeSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    email = serializers.EmailField(allow_blank=True)
    language = serializers.CharField(allow_blank=True)
    organisation_id = serializers.UUIDField(allow_null=True, help_text="The organisation that the person works in.")
    memberships = MembershipSerializer(many=True)
    limits = LimitSerializer(many=True)


class ProfileSerializer(serializers.Serializer[Any]):
    """Fields that are left out stay as they are."""

    name = serializers.CharField(max_length=80, allow_blank=True, required=False)
    email = serializers.EmailField(allow_blank=True, required=False)
    language = serializers.ChoiceField(choices=settings.LANGUAGES, allow_blank=True, required=False)


class MeView(ScopedView):
    access = SELF

    @extend_schema(responses=MeSerializer, tags=["me"])
    def get(self, request: Request) -> Response:
        """The signed-in person, where they belong and what they may use at a time."""
        return Response(self._answer())

    @extend_schema(request=ProfileSerializer, responses=MeSerializer, tags=["me"])
    def patch(self, request: Request) -> Response:
        """Change one's own name, e-mail or language."""
        asked = ProfileSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user = self._user()
        now = {"name": user.name, "email": user.email, "language": user.language}
        changed = services.update_profile(self.actor, **{**now, **asked.validated_data})
        emails.notify_former_address(request._request, changed, now["email"])
        return Response(self._answer())

    def _user(self) -> User:
        return User.objects.get(pk=self.actor.person())

    def _answer(self) -> Any:
        user = self._user()
        person = {name: getattr(user, name) for name in ("id", "username", "name", "email", "language")}
        return MeSerializer(
            {
                **person,
                "organisation_id": self.actor.organisation_id,
                "memberships": memberships(user),
                "limits": own_limits(self.actor),
            }
        ).data
