"""The API of such a kind, beside what starts it: one row, its end and its log. A kind's docstrings are the answers'."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.workloads.models import Workload
from apps.workloads.single_workload.selectors import one
from apps.workloads.single_workload.tables import WorkFilter


class WorkList(ScopedView, generics.ListCreateAPIView[Any]):
    """Newest first."""

    pagination_class = CreatedCursor
    filterset_class: ClassVar[type[WorkFilter]]

    def rows(self, actor: Actor) -> QuerySet[Any]:
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            empty: QuerySet[Any] = self.filterset_class._meta.model.objects.none()
            return empty
        return self.rows(self.actor)


class WorkView(ScopedView):
    """Base of everything about one row, which must be visible to the actor. `row_id`: of the path."""

    row_id: ClassVar[str]
    serializer_class: ClassVar[type[serializers.Serializer[Any]]]

    def rows(self, actor: Actor) -> QuerySet[Any]:
        raise NotImplementedError

    def row(self) -> Any:
        return one(self.rows(self.actor), pk=self.kwargs[self.row_id])

    def workload(self) -> Workload:
        workload: Workload = self.row().workload
        return workload

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        return Response(self.serializer_class(self.row()).data, status=code)


class WorkDetail(WorkView):
    def get(self, request: Request, **kwargs: Any) -> Response:
        return self.answer()


class WorkStop(WorkView):
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        extend_schema_view(post=extend_schema(request=None, responses={202: cls.serializer_class}))(cls)

    def stop(self, actor: Actor, row: Any) -> None:
        """Raises `Conflict` once it has ended."""
        raise NotImplementedError

    def post(self, request: Request, **kwargs: Any) -> Response:
        self.stop(self.actor, self.row())
        return self.answer(status.HTTP_202_ACCEPTED)
