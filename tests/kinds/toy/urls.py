"""Pages of toys."""

from django.urls import path

from tests.kinds.toy import pages

app_name = "toys"

urlpatterns = [
    path("", pages.toy_list, name="list"),
    path("bands/<uuid:set_id>/", pages.band, name="band"),
    path("bands/<uuid:set_id>/scale/", pages.scale_band, name="scale-band"),
    path("<uuid:workload_id>/", pages.detail, name="detail"),
    path("<uuid:workload_id>/log/", pages.log, name="log"),
]
