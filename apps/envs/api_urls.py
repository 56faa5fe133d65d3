"""The API of environments."""

from django.urls import path

from apps.envs.api import environments, inside, logs, shutdown

ONE = "environments/<uuid:environment_id>/"

urlpatterns = [
    path("environments/", environments.EnvironmentList.as_view(), name="api-environments"),
    path(ONE, environments.EnvironmentDetail.as_view(), name="api-environment"),
    path(f"{ONE}start/", environments.Start.as_view(), name="api-environment-start"),
    path(f"{ONE}stop/", environments.Stop.as_view(), name="api-environment-stop"),
    path(f"{ONE}keep/", environments.Keep.as_view(), name="api-environment-keep"),
    path(f"{ONE}renew/", environments.Renew.as_view(), name="api-environment-renew"),
    path(f"{ONE}shutdown/", shutdown.ShutdownView.as_view(), name="api-environment-shutdown"),
    path(f"{ONE}gpu/", environments.Gpu.as_view(), name="api-environment-gpu"),
    path(f"{ONE}restore/", environments.Restore.as_view(), name="api-environment-restore"),
    path(f"{ONE}purge/", environments.Purge.as_view(), name="api-environment-purge"),
    path(f"{ONE}rollback/", inside.Rollback.as_view(), name="api-environment-rollback"),
    path(f"{ONE}operations/", inside.Operations.as_view(), name="api-environment-operations"),
    path(f"{ONE}services/", inside.Services.as_view(), name="api-environment-services"),
    path(f"{ONE}tensorboard/", inside.TensorBoard.as_view(), name="api-environment-tensorboard"),
    path(f"{ONE}metrics/<slug:name>/", inside.Metrics.as_view(), name="api-environment-metrics"),
    path(f"{ONE}log/", logs.EnvironmentLog.as_view(), name="api-environment-log"),
    path(f"{ONE}log/lines/", logs.EnvironmentLogLines.as_view(), name="api-environment-log-lines"),
    path(f"{ONE}log/search/", logs.EnvironmentLogSearch.as_view(), name="api-environment-log-search"),
    path(f"{ONE}fit/", inside.Fit.as_view(), name="api-environment-fit"),
    path(f"{ONE}image/", inside.SaveImage.as_view(), name="api-environment-image"),
    path(f"{ONE}snapshots/", inside.Snapshots.as_view(), name="api-environment-snapshots"),
    path(f"{ONE}snapshots/<uuid:snapshot_id>/", inside.SnapshotDetail.as_view(), name="api-environment-snapshot"),
    path("images/mine/", inside.PersonalImages.as_view(), name="api-images-mine"),
    path("images/mine/<uuid:image_id>/", inside.PersonalImage.as_view(), name="api-image-mine"),
]
