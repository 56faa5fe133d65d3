"""Uploads of code in the API."""

from typing import Any

from rest_framework import serializers


class UploadSerializer(serializers.Serializer[Any]):
    """Files for a run's code; a zip is unpacked. `folder` adds to an earlier upload."""

    files = serializers.ListField(child=serializers.FileField(), min_length=1, max_length=500)
    folder = serializers.UUIDField(required=False)


class FolderSerializer(serializers.Serializer[Any]):
    folder = serializers.UUIDField()
    files = serializers.ListField(child=serializers.CharField())
