"""The API of tracking."""

from django.urls import path

from apps.tracking import api

RUN = "tracking/runs/<uuid:run_id>/"

urlpatterns = [
    path(f"{RUN}metrics/", api.Metrics.as_view(), name="api-tracked-metrics"),
    path(f"{RUN}points/", api.MetricPoints.as_view(), name="api-tracked-points"),
    path(f"{RUN}chart/", api.MetricChart.as_view(), name="api-tracked-chart"),
    path(f"{RUN}notes/", api.Notes.as_view(), name="api-tracked-notes"),
    path(f"{RUN}log/", api.Log.as_view(), name="api-tracked-log"),
]
