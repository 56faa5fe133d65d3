"""The API of training."""

from django.urls import path

from apps.training import (
    api,
    arrays_api,
    caps_api,
    checkpoints_api,
    metrics_api,
    passport_api,
    quotes_api,
    registering_api,
    retention_api,
    terminals_api,
    times_api,
)
from apps.training.git import api as git_api
from apps.training.git.ssh import api as git_hosts_api
from apps.training.reports import api as reports_api
from apps.training.saved_views import api as saved_views_api

ARRAY = "training/arrays/<uuid:array_id>/"
RUN = "training/runs/<uuid:run_id>/"

urlpatterns = [
    path("images/", api.ImageList.as_view(), name="api-images"),
    path("training/quote/", quotes_api.QuoteView.as_view(), name="api-training-quote"),
    path("training/metric-patterns/", metrics_api.PatternTrial.as_view(), name="api-metric-patterns"),
    path("training/code/", api.CodeUpload.as_view(), name="api-training-code"),
    path("training/code/git/", git_api.CodeFromGit.as_view(), name="api-training-code-git"),
    path("training/code/git/hosts/", git_hosts_api.GitHosts.as_view(), name="api-training-code-git-hosts"),
    path("training/code/git/hosts/<uuid:host_id>/", git_hosts_api.GitHost.as_view(), name="api-training-code-git-host"),
    path("training/reports/", reports_api.Reports.as_view(), name="api-training-reports"),
    path("training/reports/<uuid:report_id>/", reports_api.ReportDetail.as_view(), name="api-training-report"),
    path("training/views/", saved_views_api.SavedViews.as_view(), name="api-training-views"),
    path("training/views/<uuid:view_id>/", saved_views_api.SavedViewDetail.as_view(), name="api-training-view"),
    path("training/arrays/", arrays_api.ArrayStart.as_view(), name="api-arrays"),
    path(ARRAY, arrays_api.ArrayDetail.as_view(), name="api-array"),
    path(f"{ARRAY}stop/", arrays_api.ArrayStop.as_view(), name="api-array-stop"),
    path(f"{ARRAY}rerun/", arrays_api.ArrayRerun.as_view(), name="api-array-rerun"),
    path("training/runs/", api.RunList.as_view(), name="api-runs"),
    path(RUN, api.RunDetail.as_view(), name="api-run"),
    path(f"{RUN}archive/", retention_api.RunArchive.as_view(), name="api-run-archive"),
    path(f"{RUN}model/", registering_api.RunModel.as_view(), name="api-run-model"),
    path(f"{RUN}deletion/", retention_api.RunDeletion.as_view(), name="api-run-deletion"),
    path(f"{RUN}stop/", api.RunStop.as_view(), name="api-run-stop"),
    path(f"{RUN}cap/", caps_api.RunCap.as_view(), name="api-run-cap"),
    path(f"{RUN}longest/", times_api.RunLongest.as_view(), name="api-run-longest"),
    path(f"{RUN}gpu-idle/", times_api.RunGpuIdle.as_view(), name="api-run-gpu-idle"),
    path(f"{RUN}rerun/", api.RunRerun.as_view(), name="api-run-rerun"),
    path(f"{RUN}passport/", passport_api.RunPassport.as_view(), name="api-run-passport"),
    path(f"{RUN}sharing/", passport_api.RunSharing.as_view(), name="api-run-sharing"),
    path(f"{RUN}checkpoints/", checkpoints_api.RunCheckpoints.as_view(), name="api-run-checkpoints"),
    path(f"{RUN}continue/", checkpoints_api.RunContinue.as_view(), name="api-run-continue"),
    path(f"{RUN}log/", api.RunLog.as_view(), name="api-run-log"),
    path(f"{RUN}log/lines/", api.RunLogLines.as_view(), name="api-run-log-lines"),
    path(f"{RUN}log/search/", api.RunLogSearch.as_view(), name="api-run-log-search"),
    path(f"{RUN}outputs/", api.RunOutputs.as_view(), name="api-run-outputs"),
    path(f"{RUN}outputs/file/", api.RunOutputFile.as_view(), name="api-run-output-file"),
    path(f"{RUN}events/", api.RunEvents.as_view(), name="api-run-events"),
    path(f"{RUN}metrics/<slug:name>/", api.RunMetrics.as_view(), name="api-run-metrics"),
    path(f"{RUN}fit/", api.RunFit.as_view(), name="api-run-fit"),
    path(f"{RUN}terminals/", terminals_api.RunTerminals.as_view(), name="api-run-terminals"),
    path(f"{RUN}cost/", api.RunCost.as_view(), name="api-run-cost"),
]
