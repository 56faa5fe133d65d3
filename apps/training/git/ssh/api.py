"""/api/v1/training/code/git/hosts/: the SSH servers that the organisation knows."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.training.api import SUBMIT
from apps.training.git.ssh import host_keys
from apps.training.models import GitHostKey


class GitHostSerializer(serializers.ModelSerializer[GitHostKey]):
    """`host`: as files of known hosts name it. `key`: algorithm and base64."""

    confirmed_by = serializers.CharField(source="confirmed_by.username", read_only=True)

    class Meta:
        model = GitHostKey
        fields = ("id", "host", "key", "fingerprint", "confirmed_by", "created_at")
        read_only_fields = fields


@extend_schema(tags=["training"])
class GitHosts(ScopedView, generics.ListAPIView[GitHostKey]):
    """The keys by which Git servers are known over SSH, newest first. A first fetch with `host_key` adds one."""

    access = SUBMIT
    serializer_class = GitHostSerializer
    pagination_class: type[CreatedCursor] = CreatedCursor
    queryset = GitHostKey.objects.none()

    def get_queryset(self) -> QuerySet[GitHostKey]:
        return host_keys.known_hosts(self.actor)


@extend_schema(tags=["training"])
class GitHost(ScopedView):
    access = SUBMIT

    @extend_schema(responses={204: None})
    def delete(self, request: Request, host_id: UUID) -> Response:
        """Forget the server: the next fetch asks to confirm the key that it shows then.

        Whoever confirmed it may, and administrators of the organisation.
        """
        host_keys.forget(self.actor, host_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
