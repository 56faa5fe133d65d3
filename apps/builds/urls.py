"""Pages of builds."""

from django.urls import path

from apps.builds.views import create, detail

app_name = "builds"

urlpatterns = [
    path("", detail.build_list, name="list"),
    path("new/", create.new, name="new"),
    path("quote/", create.quote, name="quote"),
    path("files/", create.upload, name="upload"),
    path("of-workload/<uuid:workload_id>/", detail.of_workload, name="of_workload"),
    path("<uuid:build_id>/", detail.detail, name="detail"),
    path("<uuid:build_id>/now/", detail.now, name="now"),
    path("<uuid:build_id>/stop/", detail.stop, name="stop"),
    path("<uuid:build_id>/log/", detail.log, name="log"),
]
