"""Pages of boards."""

from django.urls import path

from apps.boards.views import detail, opening

app_name = "boards"

urlpatterns = [
    path("", detail.board_list, name="list"),
    path("new/", opening.new, name="new"),
    path("choose/", opening.choose, name="choose"),
    path("of-workload/<uuid:workload_id>/", detail.of_workload, name="of_workload"),
    path("<uuid:board_id>/", detail.detail, name="detail"),
    path("<uuid:board_id>/now/", detail.now, name="now"),
    path("<uuid:board_id>/stop/", detail.stop, name="stop"),
    path("<uuid:board_id>/log/", detail.log, name="log"),
]
