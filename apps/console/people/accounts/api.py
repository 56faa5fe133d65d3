"""/api/v1/console/people/: accounts, and disabling them."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.kit.api import Named
from apps.console.people.accounts import selectors as reads
from apps.console.people.accounts.listing import PeopleFilter
from apps.tenants import emails
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.tenants.services import accounts, deletion

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)


class ByUser(CreatedCursor):
    ordering = "-id"


class Home(serializers.Serializer[Any]):
    organisation = Named(read_only=True)
    role = serializers.ChoiceField(choices=Role.choices, read_only=True)
    priority = serializers.IntegerField(read_only=True)


class PersonOut(serializers.Serializer[User]):
    id = serializers.IntegerField(read_only=True)
    username = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    email = serializers.CharField(read_only=True)
    is_active = serializers.BooleanField(read_only=True)
    last_login = serializers.DateTimeField(allow_null=True, read_only=True)
    date_joined = serializers.DateTimeField(read_only=True)
    memberships = Home(many=True, read_only=True)
    erased_at = serializers.DateTimeField(allow_null=True, read_only=True, help_text="When the account was deleted.")


class DeletionLine(serializers.Serializer[Any]):
    text = serializers.CharField(read_only=True)
    names = serializers.ListField(child=serializers.CharField(), read_only=True)


class DeletionPreviewOut(serializers.Serializer[Any]):
    """`in_the_way` empty: nothing prevents it. `asked_at`: null where nobody has asked for it yet."""

    asked_at = serializers.DateTimeField(allow_null=True, read_only=True)
    erase_at = serializers.DateTimeField(read_only=True)
    in_the_way = DeletionLine(many=True, read_only=True)
    lost = DeletionLine(many=True, read_only=True)
    kept = DeletionLine(many=True, read_only=True)


class DetailsIn(serializers.Serializer[Any]):
    """What is left out stays."""

    name = serializers.CharField(max_length=80, allow_blank=True, required=False)
    email = serializers.EmailField(max_length=254, allow_blank=True, required=False)


@extend_schema(tags=["console: people"])
class People(ScopedView, generics.ListAPIView[User]):
    """Every account, newest first."""

    access = VIEW
    queryset = User.objects.none()
    serializer_class = PersonOut
    pagination_class = ByUser
    filterset_class = PeopleFilter

    def get_queryset(self) -> QuerySet[User]:
        return reads.people(self.actor)


@extend_schema(tags=["console: people"], responses=PersonOut)
class PersonDetail(ScopedView):
    access: ClassVar = {"get": VIEW, "patch": MANAGE}

    def get(self, request: Request, user_id: int) -> Response:
        return Response(PersonOut(reads.person(self.actor, user_id)).data)

    @extend_schema(request=DetailsIn)
    def patch(self, request: Request, user_id: int) -> Response:
        """Correct the name or e-mail. The person is told, and so is the former address."""
        former = reads.person(self.actor, user_id)
        body = DetailsIn(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = {"name": former.name, "email": former.email, **body.validated_data}
        user = accounts.correct(self.actor, user_id=user_id, **wanted)
        emails.notify_former_address(request._request, user, former.email)
        return Response(PersonOut(reads.person(self.actor, user_id)).data)


@extend_schema(tags=["console: people"], request=None, responses=PersonOut)
class PersonSwitch(ScopedView):
    """Subclasses say which way."""

    access = MANAGE
    active: bool

    def post(self, request: Request, user_id: int) -> Response:
        accounts.set_active(self.actor, user_id=user_id, active=self.active)
        return Response(PersonOut(reads.person(self.actor, user_id)).data)


class Disable(PersonSwitch):
    """Sign-in, tokens and keys stop working. What the person runs goes on; what they have queued does not start."""

    active = False


class Enable(PersonSwitch):
    active = True


@extend_schema(tags=["console: people"])
class Deletion(ScopedView):
    access: ClassVar = {"get": MANAGE, "post": MANAGE, "delete": MANAGE}

    @extend_schema(responses=DeletionPreviewOut)
    def get(self, request: Request, user_id: int) -> Response:
        """What prevents the deletion of the account, what is lost by it and what stays."""
        found = deletion.preview(self.actor, user_id=user_id)
        asked = deletion.open_deletion(user_id)
        shown = {
            "asked_at": asked.asked_at if asked else None,
            "erase_at": asked.erase_at if asked else found.erase_at,
            "in_the_way": found.in_the_way,
            "lost": found.lost,
            "kept": found.kept,
        }
        return Response(DeletionPreviewOut(shown).data)

    @extend_schema(request=None, responses=DeletionPreviewOut)
    def post(self, request: Request, user_id: int) -> Response:
        """Delete the account at the end of a term; sign-in, tokens and keys stop working at once. Asked again: nothing.

        409 while anything runs in the person's name, and for the last administrator of an organisation.
        """
        deletion.ask(self.actor, user_id=user_id)
        return self.get(request, user_id)

    @extend_schema(responses={204: OpenApiResponse(description="The account stays.")})
    def delete(self, request: Request, user_id: int) -> Response:
        """Take it back before the term is over. 409 afterwards."""
        deletion.withdraw(self.actor, user_id=user_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
