"""What the API of storage reads and writes. Sizes of files in bytes, sizes of volumes in MiB."""

from typing import Any

from rest_framework import serializers

from apps.common.verbatim import VerbatimField
from apps.storage import jobs
from apps.storage.choices import Clash, JobKind, JobStatus, Right, RootKind
from apps.storage.models import Dataset, DatasetVersion, Job, ManifestEntry, Volume

NAME = 60


class VolumeSerializer(serializers.ModelSerializer[Volume]):
    """`code` is its name for SFTP. `over_limit`: mounted read-only until files are deleted or it is made larger.

    `file_count` counts files and folders; `limit_files` of them fit in.
    """

    owner = serializers.CharField(source="owner.username")
    over_limit = serializers.BooleanField(source="is_over")
    limit_files = serializers.IntegerField()

    class Meta:
        model = Volume
        fields = (
            "id",
            "code",
            "name",
            "note",
            "owner",
            "size_mib",
            "used_bytes",
            "file_count",
            "limit_files",
            "measured_at",
            "over_limit",
            "created_at",
            "deleted_at",
            "purge_at",
        )


class NewVolumeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    size_mib = serializers.IntegerField(min_value=1, max_value=1 << 30)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class ChangeVolumeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)
    size_mib = serializers.IntegerField(min_value=1, max_value=1 << 30, required=False)


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    owner = serializers.CharField(source="owner.username")
    newest_version = serializers.IntegerField(source="newest")

    class Meta:
        model = Dataset
        fields = ("id", "name", "note", "owner", "newest_version", "created_at", "deleted_at", "purge_at")


class NewDatasetSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class ChangeDatasetSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)


class VersionSerializer(serializers.ModelSerializer[DatasetVersion]):
    """`shared_bytes`: of these, what an earlier version holds too; it takes no room again."""

    made_by = serializers.CharField(source="made_by.username")

    class Meta:
        model = DatasetVersion
        fields = ("id", "number", "note", "file_count", "total_bytes", "shared_bytes", "made_by", "created_at")


class NewVersionSerializer(serializers.Serializer[Any]):
    """From a folder of a volume, or of what was uploaded to the dataset's draft (no `volume`)."""

    volume = serializers.UUIDField(required=False)
    path = serializers.CharField(max_length=1024, required=False, allow_blank=True, default="")
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class DraftSerializer(serializers.Serializer[Any]):
    folder = serializers.UUIDField()


class DifferenceSerializer(serializers.ModelSerializer[ManifestEntry]):
    class Meta:
        model = ManifestEntry
        fields = ("path", "size")


class ShareSerializer(serializers.Serializer[Any]):
    user = serializers.CharField(source="user.username", read_only=True)
    user_id = serializers.IntegerField(source="user.pk", min_value=1, max_value=2**31 - 1)
    right = serializers.ChoiceField(choices=Right.choices)


class EntrySerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    path = serializers.CharField()
    is_folder = serializers.BooleanField()
    size = serializers.IntegerField()
    modified = serializers.DateTimeField()


class ListingSerializer(serializers.Serializer[Any]):
    entries = EntrySerializer(many=True)
    total = serializers.IntegerField()
    page = serializers.IntegerField(source="number")
    pages = serializers.IntegerField()


class PathField(serializers.CharField):
    """A path below the root; empty for the root itself. What could lead out of it is refused by the service."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=1024, trim_whitespace=False, **options)


class NewFolderSerializer(serializers.Serializer[Any]):
    path = PathField(allow_blank=True, default="")
    name = serializers.CharField(max_length=255)


class RenameSerializer(serializers.Serializer[Any]):
    path = PathField()
    name = serializers.CharField(max_length=255)


class PathsSerializer(serializers.Serializer[Any]):
    paths = serializers.ListField(child=PathField(), min_length=1, max_length=1000)


class MoveSerializer(PathsSerializer):
    folder = PathField(allow_blank=True)
    clash = serializers.ChoiceField(choices=Clash.choices, default=Clash.KEEP_BOTH)


class CopySerializer(MoveSerializer):
    """`target_kind` and `target_id` name another tree to copy into; the same one by default."""

    target_kind = serializers.ChoiceField(choices=RootKind.choices, required=False)
    target_id = serializers.UUIDField(required=False)


class PathSerializer(serializers.Serializer[Any]):
    path = PathField()


class MovedSerializer(serializers.Serializer[Any]):
    paths = serializers.ListField(child=serializers.CharField())


class CountSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()


class TextSerializer(serializers.Serializer[Any]):
    """`etag` names the content that was read; null for a file that must not exist yet."""

    text = VerbatimField(allow_blank=True, max_length=1 << 20)
    encoding = serializers.CharField(max_length=12, default="utf-8")
    etag = serializers.CharField(max_length=100, allow_null=True)


class NewUploadSerializer(serializers.Serializer[Any]):
    path = PathField()
    size = serializers.IntegerField(min_value=0, max_value=1 << 42)
    clash = serializers.ChoiceField(choices=Clash.choices, default=Clash.KEEP_BOTH)
    fingerprint = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class UploadSerializer(serializers.Serializer[Any]):
    """`offset`: bytes that have come; the next part begins there. `path` of the finished file, null where skipped."""

    id = serializers.UUIDField()
    offset = serializers.IntegerField()
    size = serializers.IntegerField()
    part_bytes = serializers.IntegerField()
    done = serializers.BooleanField()
    path = serializers.CharField(allow_null=True)


class JobSerializer(serializers.ModelSerializer[Job]):
    """`ahead`: jobs of the organisation that start before one that waits. `error`: why it failed, in words."""

    ahead = serializers.SerializerMethodField()
    kind = serializers.ChoiceField(choices=JobKind.choices)
    status = serializers.ChoiceField(choices=JobStatus.choices)

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "status",
            "ahead",
            "title",
            "done_files",
            "done_bytes",
            "total_bytes",
            "error",
            "created_at",
            "ended_at",
        )

    def get_ahead(self, job: Job) -> int:
        return jobs.ahead_of(job)
