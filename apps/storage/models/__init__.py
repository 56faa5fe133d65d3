from apps.storage.choices import FolderKind
from apps.storage.models.content import EntryKind, Manifest, ManifestEntry, StoredObject
from apps.storage.models.datasets import Dataset, DatasetShare, DatasetVersion
from apps.storage.models.folders import LEAST_FILES, MIB, MIB_FILES, Folder, Limited
from apps.storage.models.owned import Owned, OwnedRights, Versioned
from apps.storage.models.transfers import Job, Upload
from apps.storage.models.volumes import Volume, VolumeShare

__all__ = [
    "LEAST_FILES",
    "MIB",
    "MIB_FILES",
    "Dataset",
    "DatasetShare",
    "DatasetVersion",
    "EntryKind",
    "Folder",
    "FolderKind",
    "Job",
    "Limited",
    "Manifest",
    "ManifestEntry",
    "Owned",
    "OwnedRights",
    "StoredObject",
    "Upload",
    "Versioned",
    "Volume",
    "VolumeShare",
]
