"""The API of training."""

from django.urls import path

from apps.training import api, caps_api, quotes_api

RUN = "training/runs/<uuid:run_id>/"

urlpatterns = [
    path("images/", api.ImageList.as_view(), name="api-images"),
    path("training/quote/", quotes_api.QuoteView.as_view(), name="api-training-quote"),
    path("training/code/", api.CodeUpload.as_view(), name="api-training-code"),
    path("training/runs/", api.RunList.as_view(), name="api-runs"),
    path(RUN, api.RunDetail.as_view(), name="api-run"),
    path(f"{RUN}stop/", api.RunStop.as_view(), name="api-run-stop"),
    path(f"{RUN}cap/", caps_api.RunCap.as_view(), name="api-run-cap"),
    path(f"{RUN}rerun/", api.RunRerun.as_view(), name="api-run-rerun"),
    path(f"{RUN}log/", api.RunLog.as_view(), name="api-run-log"),
    path(f"{RUN}outputs/", api.RunOutputs.as_view(), name="api-run-outputs"),
    path(f"{RUN}outputs/file/", api.RunOutputFile.as_view(), name="api-run-output-file"),
    path(f"{RUN}events/", api.RunEvents.as_view(), name="api-run-events"),
    path(f"{RUN}metrics/<slug:name>/", api.RunMetrics.as_view(), name="api-run-metrics"),
    path(f"{RUN}fit/", api.RunFit.as_view(), name="api-run-fit"),
    path(f"{RUN}cost/", api.RunCost.as_view(), name="api-run-cost"),
]
