"""/api/v1/training/code/git/: code from a Git repository."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.storage import services as storage
from apps.training.api import SUBMIT
from apps.training.git.origin import LONGEST_FINGERPRINT, Wanted, origin_of
from apps.training.git.serializers import OriginSerializer
from apps.training.git.services import fetch_code


class WantedSerializer(serializers.Serializer[Any]):
    """`ref`: a branch, a tag or a commit by 7 of its digits or more; empty for the default branch.

    `path`: of a folder inside it.

    `secret`: the id of one whose value is the password or token for `username`, which most servers let be empty; over
    SSH its value is the private key. `host_key`: the fingerprint of the server's key (`SHA256:…`), which confirms it
    for the organisation at its first fetch from there; without it the answer is 400 `git_host_unknown`.
    """

    address = serializers.CharField(max_length=500, help_text="https or SSH")
    ref = serializers.CharField(max_length=200, required=False, allow_blank=True)
    path = serializers.CharField(max_length=500, required=False, allow_blank=True)
    username = serializers.CharField(max_length=200, required=False, allow_blank=True)
    secret = serializers.UUIDField(source="secret_id", required=False, allow_null=True)
    host_key = serializers.CharField(max_length=LONGEST_FINGERPRINT, required=False, allow_blank=True)


class FetchedSerializer(serializers.Serializer[Any]):
    """`folder` is what a run names as `code`; `files` are the first 200 of it."""

    folder = serializers.UUIDField()
    files = serializers.ListField(child=serializers.CharField())
    git = OriginSerializer()


@extend_schema(tags=["training"])
class CodeFromGit(ScopedView):
    access = SUBMIT

    @extend_schema(request=WantedSerializer, responses={201: FetchedSerializer})
    def post(self, request: Request) -> Response:
        """Fetch the commit that is named now, without its history: what runs is that one, wherever its branch goes."""
        asked = WantedSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        folder = fetch_code(self.actor, Wanted(**asked.validated_data))
        answer = {"folder": folder.pk, "files": storage.file_names(folder), "git": origin_of(folder)}
        return Response(FetchedSerializer(answer).data, status=status.HTTP_201_CREATED)
