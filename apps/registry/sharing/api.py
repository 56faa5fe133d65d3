"""/api/v1/images/…/shares/: repositories shared with other organisations, and what they share with one's own."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.registry.sharing import selectors, services
from apps.registry.sharing.choices import ShareState
from apps.registry.sharing.forms import MAX_NAME
from apps.registry.sharing.listing import ReceivedFilter
from apps.registry.sharing.models import MAX_NOTE, RepositoryShare
from apps.registry.sharing.services import NewShare

USE = in_organisation(P.IMAGES_USE)
MANAGE = in_organisation(P.IMAGES_MANAGE)
TAGS = ["images"]


class OtherOrganisationOut(serializers.Serializer[Any]):
    slug = serializers.CharField(read_only=True, help_text="Its short name, with which its repositories begin.")
    name = serializers.CharField(read_only=True)


class RepositoryShareOut(serializers.Serializer[RepositoryShare]):
    """Only an active share counts. `until`: its last day; null: until it is taken back."""

    id = serializers.UUIDField(read_only=True)
    organisation = OtherOrganisationOut(source="receiver", read_only=True)
    note = serializers.CharField(read_only=True)
    until = serializers.DateField(read_only=True, allow_null=True)
    state = serializers.SerializerMethodField(help_text=", ".join(each.value for each in ShareState))
    shared_by = serializers.CharField(source="shared_by.username", default=None, allow_null=True, read_only=True)
    created_at = serializers.DateTimeField(read_only=True)

    def get_state(self, share: RepositoryShare) -> str:
        return selectors.state_of(share).value


class SharedRepositoryOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)


class ReceivedShareOut(RepositoryShareOut):
    """`organisation`: which shares it. Who there did so is not said."""

    shared_by = None  # type: ignore[assignment]
    organisation = OtherOrganisationOut(source="repository.organisation", read_only=True)
    repository = SharedRepositoryOut(read_only=True)


class ShareIn(serializers.Serializer[Any]):
    organisation = serializers.CharField(max_length=MAX_NAME, help_text="The other one's short name, or its name.")
    note = serializers.CharField(max_length=MAX_NOTE, required=False, default="", allow_blank=True)
    until = serializers.DateField(
        required=False, default=None, allow_null=True, help_text="The last day; null: until it is taken back."
    )


@extend_schema(tags=TAGS)
class RepositoryShares(ScopedView, generics.ListAPIView[RepositoryShare]):
    """With which other organisations it is shared, the newest first: for who may delete it."""

    access = USE
    serializer_class = RepositoryShareOut
    pagination_class = CreatedCursor
    filter_backends = ()
    queryset = RepositoryShare.objects.none()

    def get_queryset(self) -> QuerySet[RepositoryShare]:
        return selectors.shares_of(selectors.shareable(self.actor, self.kwargs["repository_id"]))

    @extend_schema(request=ShareIn, responses={201: RepositoryShareOut})
    def post(self, request: Request, repository_id: UUID) -> Response:
        """Let another organisation's people pull it and start work in it. Again, it changes note and last day."""
        asked = ShareIn(data=request.data)
        asked.is_valid(raise_exception=True)
        made = services.share(self.actor, repository_id, NewShare(**asked.validated_data))
        return Response(RepositoryShareOut(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS)
class OneShare(ScopedView):
    access = USE

    @extend_schema(responses={204: None})
    def delete(self, request: Request, repository_id: UUID, share_id: UUID) -> Response:
        """Take it back. What runs there goes on; what waits does not start."""
        services.take_back(self.actor, repository_id, share_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=TAGS)
class ReceivedShares(ScopedView, generics.ListAPIView[RepositoryShare]):
    """What other organisations share with yours, the newest first.

    Who manages the organisation's images also sees what does not count now.
    """

    access = USE
    serializer_class = ReceivedShareOut
    pagination_class = CreatedCursor
    filterset_class = ReceivedFilter
    queryset = RepositoryShare.objects.none()

    def get_queryset(self) -> QuerySet[RepositoryShare]:
        return selectors.received_shares(self.actor)


@extend_schema(tags=TAGS)
class ShareDecline(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses=ReceivedShareOut)
    def post(self, request: Request, share_id: UUID) -> Response:
        """Nobody in your organisation sees or uses it any more, until it is accepted again."""
        return Response(ReceivedShareOut(services.decline(self.actor, share_id)).data)


@extend_schema(tags=TAGS)
class ShareAccept(ScopedView):
    access = MANAGE

    @extend_schema(request=None, responses=ReceivedShareOut)
    def post(self, request: Request, share_id: UUID) -> Response:
        """After it was declined."""
        return Response(ReceivedShareOut(services.accept(self.actor, share_id)).data)
