"""The API of boards: the same services and permissions as the pages."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.boards import selectors, services
from apps.boards.models import Board
from apps.boards.serializers import BoardSerializer, OpenSerializer
from apps.boards.tables import BoardFilter
from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch, LogView
from apps.workloads.models import Workload

VIEW = in_organisation(Permission.TRAINING_VIEW)
USE = in_organisation(Permission.TRAINING_SUBMIT)


class BoardList(ScopedView, generics.ListCreateAPIView[Board]):
    """TensorBoards: the actor's own, or all of the organisation's for who manages its runs; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = BoardSerializer
    filterset_class = BoardFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Board]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Board.objects.none()
        return selectors.boards(self.actor)

    @extend_schema(request=OpenSerializer, responses={200: BoardSerializer, 201: BoardSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Open TensorBoard on the output of runs: the one that is open on exactly these (200), or a new one (201)."""
        asked = OpenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        opened = services.open_board(
            self.actor, asked.validated_data["runs"], package_id=asked.validated_data["package"]
        )
        found = BoardSerializer(selectors.get(self.actor, opened.board.pk)).data
        return Response(found, status=status.HTTP_201_CREATED if opened.is_new else status.HTTP_200_OK)


class BoardView(ScopedView):
    """Base of everything about one board, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = VIEW

    def board(self) -> Board:
        return selectors.get(self.actor, self.kwargs["board_id"])


class BoardDetail(BoardView):
    @extend_schema(responses=BoardSerializer)
    def get(self, request: Request, **kwargs: Any) -> Response:
        """One TensorBoard and its runs."""
        return Response(BoardSerializer(self.board()).data)


class BoardStop(BoardView):
    access = USE

    @extend_schema(request=None, responses={202: BoardSerializer})
    def post(self, request: Request, **kwargs: Any) -> Response:
        """Ask it to end; the runs and their output stay. 409 where it has ended already."""
        services.stop(self.actor, self.board())
        return Response(BoardSerializer(self.board()).data, status=status.HTTP_202_ACCEPTED)


class BoardLogView(LogView):
    access = VIEW

    def workload(self) -> Workload:
        return selectors.get(self.actor, self.kwargs["board_id"]).workload


class BoardLog(BoardLogView, LogBytes):
    """The log as bytes."""


class BoardLogLines(BoardLogView, LogLines):
    """The log by lines."""


class BoardLogSearch(BoardLogView, LogSearch):
    """A text in the log."""
