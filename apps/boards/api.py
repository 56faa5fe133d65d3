"""The API of boards: the same services and permissions as the pages."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.boards import selectors, services
from apps.boards.models import Board
from apps.boards.serializers import BoardSerializer, OpenSerializer
from apps.boards.tables import BoardFilter
from apps.common.access import Access, in_organisation
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch
from apps.workloads.single_workload.api import WorkDetail, WorkList, WorkStop, WorkView

VIEW = in_organisation(Permission.TRAINING_VIEW)
USE = in_organisation(Permission.TRAINING_SUBMIT)


class BoardList(WorkList):
    """TensorBoards: the actor's own, or all of the organisation's for who manages its runs; newest first."""

    access = {"get": VIEW, "post": USE}
    serializer_class = BoardSerializer
    filterset_class = BoardFilter

    def rows(self, actor: Actor) -> QuerySet[Board]:
        return selectors.boards(actor)

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


class BoardView(WorkView):
    access: ClassVar[Access | dict[str, Access]] = VIEW
    row_id = "board_id"
    serializer_class = BoardSerializer

    def rows(self, actor: Actor) -> QuerySet[Board]:
        return selectors.boards(actor)


class BoardDetail(BoardView, WorkDetail):
    """One TensorBoard and its runs."""


class BoardStop(BoardView, WorkStop):
    """Ask it to end; the runs and their output stay. 409 where it has ended already."""

    access = USE

    def stop(self, actor: Actor, row: Board) -> None:
        services.stop(actor, row)


class BoardLog(BoardView, LogBytes):
    """The log as bytes."""


class BoardLogLines(BoardView, LogLines):
    """The log by lines."""


class BoardLogSearch(BoardView, LogSearch):
    """A text in the log."""
