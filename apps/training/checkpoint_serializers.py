"""Checkpoints, and what goes on from them, as the API has them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.storage.digests import digest_of
from apps.training.checkpoints import Problem
from apps.training.models import Continuation


class ResumeSerializer(serializers.Serializer[Any]):
    """The checkpoint that a run goes on from. `checkpoint`: its key, as the run lists it; the newest by default."""

    run = serializers.UUIDField(source="run_id")
    checkpoint = serializers.CharField(required=False, allow_null=True, max_length=255)


class ContinueSerializer(serializers.Serializer[Any]):
    """Where the next version begins. `checkpoint`: its key, as the run lists it; the newest by default."""

    checkpoint = serializers.CharField(required=False, allow_null=True, max_length=255)


class CheckpointSerializer(serializers.Serializer[Any]):
    """A checkpoint that a run left. `size` in bytes; `problem`: why no run can go on from it, null where one can."""

    key = serializers.CharField()
    name = serializers.CharField()
    step = serializers.IntegerField(allow_null=True)
    saved_at = serializers.DateTimeField()
    size = serializers.IntegerField()
    files = serializers.IntegerField()
    problem = serializers.ChoiceField(choices=[each.value for each in Problem], allow_null=True)


class ContinuationSerializer(serializers.ModelSerializer[Continuation]):
    """From what a run goes on. `size` in bytes; `sha256` of all its files together, null until it is computed."""

    run = serializers.UUIDField(source="source_id")
    version = serializers.IntegerField(source="source.version")
    size = serializers.IntegerField(source="size_bytes")
    files = serializers.IntegerField(source="file_count")
    sha256 = serializers.SerializerMethodField()

    class Meta:
        model = Continuation
        fields = ("run", "version", "checkpoint", "name", "step", "saved_at", "size", "files", "sha256")

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_sha256(self, row: Continuation) -> str | None:
        digest = digest_of(row.folder)
        return digest.sha256 or None if digest else None
