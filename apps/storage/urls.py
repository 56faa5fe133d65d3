"""Pages of storage: volumes, datasets, and the files in them."""

from django.urls import path

from apps.storage.views import acts, browse, datasets, show, versions, volumes

app_name = "storage"

FILES = "files/<slug:kind>/<uuid:root_id>/"
VOLUME = "volumes/<uuid:volume_id>/"
DATASET = "datasets/<uuid:dataset_id>/"

urlpatterns = [
    path("volumes/", volumes.volume_list, name="volumes"),
    path("volumes/bulk/", volumes.bulk_act, name="volume_bulk"),
    path("datasets/bulk/", datasets.bulk_act, name="dataset_bulk"),
    path("volumes/new/", volumes.new, name="volume_new"),
    path(VOLUME, volumes.detail, name="volume"),
    path(f"{VOLUME}share/", volumes.share, name="volume_share"),
    path(f"{VOLUME}unshare/<int:user_id>/", volumes.unshare, name="volume_unshare"),
    path(f"{VOLUME}do/<slug:name>/", volumes.act, name="volume_act"),
    path("datasets/", datasets.dataset_list, name="datasets"),
    path("datasets/new/", datasets.new, name="dataset_new"),
    path(DATASET, datasets.detail, name="dataset"),
    path(f"{DATASET}share/", datasets.share, name="dataset_share"),
    path(f"{DATASET}unshare/<int:user_id>/", datasets.unshare, name="dataset_unshare"),
    path(f"{DATASET}do/<slug:name>/", datasets.act, name="dataset_act"),
    path(f"{DATASET}version/", versions.new, name="version_new"),
    path(f"{DATASET}compare/", versions.compare, name="compare"),
    path(FILES, browse.files, name="files"),
    path(f"{FILES}jobs/", browse.work, name="jobs"),
    path(f"{FILES}raw/", browse.raw, name="raw"),
    path(f"{FILES}zip/", browse.packed, name="zip"),
    path(f"{FILES}show/", show.show, name="show"),
    path(f"{FILES}do/<slug:name>/", acts.act, name="act"),
    path("jobs/<uuid:job_id>/cancel/", acts.cancel_job, name="job_cancel"),
    path("uploads/<uuid:upload_id>/cancel/", acts.cancel_upload, name="upload_cancel"),
]
