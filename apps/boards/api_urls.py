"""The API of boards."""

from django.urls import path

from apps.boards import api

BOARD = "tensorboards/<uuid:board_id>/"

urlpatterns = [
    path("tensorboards/", api.BoardList.as_view(), name="api-boards"),
    path(BOARD, api.BoardDetail.as_view(), name="api-board"),
    path(f"{BOARD}stop/", api.BoardStop.as_view(), name="api-board-stop"),
    path(f"{BOARD}log/", api.BoardLog.as_view(), name="api-board-log"),
    path(f"{BOARD}log/lines/", api.BoardLogLines.as_view(), name="api-board-log-lines"),
    path(f"{BOARD}log/search/", api.BoardLogSearch.as_view(), name="api-board-log-search"),
]
