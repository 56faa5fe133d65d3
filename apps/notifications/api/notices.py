"""The API of notices."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import SELF
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.notifications import selectors, services
from apps.notifications.models import Notice
from apps.notifications.words import words


class NoticeSerializer(serializers.ModelSerializer[Notice]):
    """`title` and `text` are in the language of the request; `data` is what they were made from.

    `excerpt`: the last lines of the log where it tells of a failure, else empty.
    """

    title = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField()
    excerpt = serializers.SerializerMethodField()

    class Meta:
        model = Notice
        fields = ("id", "kind", "data", "title", "text", "excerpt", "created_at", "read_at")

    def get_title(self, notice: Notice) -> str:
        return words(notice).title

    def get_text(self, notice: Notice) -> str:
        return words(notice).text

    def get_excerpt(self, notice: Notice) -> str:
        return words(notice).excerpt


class ReadSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=1000,
        help_text="All unread ones without.",
    )


class ReadAnswer(serializers.Serializer[Any]):
    marked = serializers.IntegerField(help_text="How many were unread.")


class NewestNotice(CreatedCursor):
    ordering: Any = ("-created_at", "-id")  # notices of the same instant keep their places


@extend_schema(tags=["notices"])
class NoticeList(ScopedView, generics.ListAPIView[Notice]):
    """One's own notices in the current organisation, newest first."""

    access = SELF
    serializer_class = NoticeSerializer
    pagination_class: type[CreatedCursor] = NewestNotice
    queryset = Notice.objects.none()

    def get_queryset(self) -> QuerySet[Notice]:
        return selectors.notices(self.actor)


class ReadView(ScopedView):
    access = SELF

    @extend_schema(request=ReadSerializer, responses=ReadAnswer, tags=["notices"])
    def post(self, request: Request) -> Response:
        """Mark notices read; ids that are not one's own change nothing."""
        asked = ReadSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        marked = services.mark_read(self.actor, notice_ids=asked.validated_data.get("ids"))
        return Response(ReadAnswer({"marked": marked}).data)
