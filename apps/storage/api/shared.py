"""What the API's views of storage share."""

from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.permissions import Permission
from apps.storage import sharing
from apps.storage.api import serializers as s
from apps.storage.choices import Right
from apps.storage.models import Owned

VIEW = in_organisation(Permission.STORAGE_VIEW)
USE = in_organisation(Permission.STORAGE_USE)


def matching(rows: QuerySet[Any], request: Request) -> QuerySet[Any]:
    """`?search=` in name and note, `?mine=true` for one's own."""
    search = request.query_params.get("search", "")
    if search and "\0" not in search:
        rows = rows.filter(Q(name__icontains=search) | Q(note__icontains=search))
    if request.query_params.get("mine", "").lower() in ("1", "true"):
        rows = rows.filter(owner_id=request.user.pk)
    return rows


class SharesView(ScopedView):
    """With whom a volume or dataset is shared; subclasses say which."""

    access = {"get": VIEW, "post": USE}

    def thing(self) -> Owned:
        raise NotImplementedError

    @extend_schema(responses=s.ShareSerializer(many=True))
    def get(self, request: Request, **kwargs: Any) -> Response:
        """Everyone it is shared with."""
        return Response(s.ShareSerializer(sharing.shares(self.thing()), many=True).data)

    @extend_schema(request=s.ShareSerializer, responses={201: s.ShareSerializer(many=True)})
    def post(self, request: Request, **kwargs: Any) -> Response:
        """Give a member of the organisation a right, in place of the one they had."""
        asked = s.ShareSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        thing, data = self.thing(), asked.validated_data
        sharing.share(self.actor, thing, user_id=data["user"]["pk"], right=Right(data["right"]))
        told = s.ShareSerializer(sharing.shares(thing), many=True).data
        return Response(told, status=status.HTTP_201_CREATED)


class ShareView(ScopedView):
    access = USE

    def thing(self) -> Owned:
        raise NotImplementedError

    @extend_schema(responses={204: None})
    def delete(self, request: Request, user_id: int, **kwargs: Any) -> Response:
        """Take every right of a person away. Who it is shared with may do so for themselves.

        What runs keeps its mount until it ends; what is queued with it, or queued again, is not started any more.
        """
        sharing.unshare(self.actor, self.thing(), user_id=user_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
