"""What the API says of a launcher."""

from typing import Any

from rest_framework import serializers


class RankStartSerializer(serializers.Serializer[Any]):
    """What one member starts, and variables beside those of all."""

    argv = serializers.ListField(child=serializers.CharField())
    env = serializers.DictField(child=serializers.CharField())
