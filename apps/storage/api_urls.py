"""The API of storage."""

from django.urls import path

from apps.storage.api import datasets, files, uploads, volumes

VOLUME = "volumes/<uuid:volume_id>/"
DATASET = "datasets/<uuid:dataset_id>/"
FILES = "files/<slug:kind>/<uuid:root_id>/"

urlpatterns = [
    path("volumes/", volumes.VolumeList.as_view(), name="api-volumes"),
    path(VOLUME, volumes.VolumeDetail.as_view(), name="api-volume"),
    path(f"{VOLUME}restore/", volumes.VolumeRestore.as_view(), name="api-volume-restore"),
    path(f"{VOLUME}purge/", volumes.VolumePurge.as_view(), name="api-volume-purge"),
    path(f"{VOLUME}shares/", volumes.VolumeShares.as_view(), name="api-volume-shares"),
    path(f"{VOLUME}shares/<int:user_id>/", volumes.VolumeShareOf.as_view(), name="api-volume-share"),
    path("datasets/", datasets.DatasetList.as_view(), name="api-datasets"),
    path(DATASET, datasets.DatasetDetail.as_view(), name="api-dataset"),
    path(f"{DATASET}restore/", datasets.DatasetRestore.as_view(), name="api-dataset-restore"),
    path(f"{DATASET}purge/", datasets.DatasetPurge.as_view(), name="api-dataset-purge"),
    path(f"{DATASET}draft/", datasets.DatasetDraft.as_view(), name="api-dataset-draft"),
    path(f"{DATASET}versions/", datasets.VersionList.as_view(), name="api-dataset-versions"),
    path(f"{DATASET}compare/", datasets.VersionCompare.as_view(), name="api-dataset-compare"),
    path(f"{DATASET}shares/", datasets.DatasetShares.as_view(), name="api-dataset-shares"),
    path(f"{DATASET}shares/<int:user_id>/", datasets.DatasetShareOf.as_view(), name="api-dataset-share"),
    path(FILES, files.FileList.as_view(), name="api-files"),
    path(f"{FILES}folders/", files.FileFolders.as_view(), name="api-files-folders"),
    path(f"{FILES}rename/", files.FileRename.as_view(), name="api-files-rename"),
    path(f"{FILES}move/", files.FileMove.as_view(), name="api-files-move"),
    path(f"{FILES}copy/", files.FileCopy.as_view(), name="api-files-copy"),
    path(f"{FILES}delete/", files.FileDelete.as_view(), name="api-files-delete"),
    path(f"{FILES}unpack/", files.FileUnpack.as_view(), name="api-files-unpack"),
    path(f"{FILES}text/", files.FileText.as_view(), name="api-files-text"),
    path(f"{FILES}content/", files.FileContent.as_view(), name="api-files-content"),
    path(f"{FILES}zip/", files.FileZip.as_view(), name="api-files-zip"),
    path(f"{FILES}uploads/", uploads.UploadList.as_view(), name="api-files-uploads"),
    path(f"{FILES}jobs/", files.FileJobs.as_view(), name="api-files-jobs"),
    path("uploads/<uuid:upload_id>/", uploads.UploadDetail.as_view(), name="api-upload"),
    path("jobs/<uuid:job_id>/", files.JobDetail.as_view(), name="api-job"),
]
