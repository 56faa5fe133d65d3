"""What the API says of a commit."""

from typing import Any

from rest_framework import serializers


class OriginSerializer(serializers.Serializer[Any]):
    """The commit that code is. `ref` is what was asked for, `path` the folder inside, empty for all of it.

    `submodules` are folders that stayed empty, `pointers` files whose content is with Git LFS: the first five of each.
    """

    address = serializers.CharField()
    ref = serializers.CharField(allow_blank=True)
    path = serializers.CharField(allow_blank=True)
    commit = serializers.CharField()
    subject = serializers.CharField(allow_blank=True)
    author = serializers.CharField(allow_blank=True)
    date = serializers.DateTimeField(source="when")
    submodules = serializers.ListField(child=serializers.CharField())
    submodule_count = serializers.IntegerField()
    pointers = serializers.ListField(child=serializers.CharField())
    pointer_count = serializers.IntegerField()
