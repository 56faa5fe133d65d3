"""Uploads in parts: `POST` begins one, `PATCH` appends at `Upload-Offset`, `HEAD` tells how far it is."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.storage import uploads
from apps.storage.api import serializers as s
from apps.storage.api.files import FilesView
from apps.storage.api.shared import USE
from apps.storage.choices import Clash
from apps.storage.models import Upload

OFFSET = OpenApiParameter(
    "Upload-Offset", int, OpenApiParameter.HEADER, required=True, description="Where this part begins."
)
CHUNK = 256 * 1024


class PartParser(BaseParser):
    """Leaves the body where it is: it is read piece by piece into its file."""

    media_type = "application/offset+octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream


class UploadList(FilesView):
    access = USE

    @extend_schema(request=s.NewUploadSerializer, responses={201: s.UploadSerializer})
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Begin a file, or continue the one of the same `fingerprint`; room for all of it is kept. Folders are made."""
        root, data = self.root(write=True), self.asked(s.NewUploadSerializer)
        upload, offset = uploads.begin(
            self.actor,
            root,
            path=data["path"],
            size=data["size"],
            clash=Clash(data["clash"]),
            fingerprint=data["fingerprint"],
        )
        told = _told(self, upload, offset)
        return Response(told, status=status.HTTP_201_CREATED, headers=_headers(upload, offset))


class UploadDetail(ScopedView):
    access = USE
    parser_classes = [PartParser]
    # One file of 2 GB is 256 requests: what limits uploads is the room that is left, not their number.
    throttle_classes = ()

    @extend_schema(responses=s.UploadSerializer)
    def get(self, request: Request, upload_id: UUID) -> Response:
        """How far it is."""
        upload = uploads.get(self.actor, upload_id)
        offset = uploads.offset_of(upload)
        return Response(_answer(upload, offset, done=False), headers=_headers(upload, offset))

    @extend_schema(exclude=True)
    def head(self, request: Request, upload_id: UUID) -> Response:
        return self.get(request, upload_id)

    @extend_schema(
        parameters=[OFFSET],
        request={"application/offset+octet-stream": OpenApiTypes.BINARY},
        responses=s.UploadSerializer,
    )
    def patch(self, request: Request, upload_id: UUID) -> Response:
        """Append a part of at most 16 MiB; 409 `wrong_offset` tells where the file ends. The last seals it."""
        upload = uploads.get(self.actor, upload_id)
        offset = uploads.append(self.actor, upload, offset=_offset(request), chunks=_chunks(request))
        return Response(_told(self, upload, offset), headers=_headers(upload, offset))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, upload_id: UUID) -> Response:
        """Cancel it: what came is removed."""
        uploads.cancel(uploads.get(self.actor, upload_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _offset(request: Request) -> int:
    text = request.headers.get("Upload-Offset", "")
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Invalid.field("Upload-Offset", _("A whole number that is not negative is needed."))
    return int(text)


def _chunks(request: Request) -> Iterator[bytes]:
    length = request.headers.get("Content-Length", "0")
    if not length.isdigit() or int(length) > uploads.MAX_PART:
        raise Invalid(_("A part may have 16 MiB at most."))
    left, stream = int(length), request.data
    if not hasattr(stream, "read"):  # an empty body is not parsed
        return
    while left > 0 and (chunk := stream.read(min(CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _told(view: ScopedView, upload: Upload, offset: int) -> Any:
    """The answer, once the file is sealed where all of it has come."""
    if offset < upload.size:
        return _answer(upload, offset, done=False)
    return _answer(upload, offset, done=True, path=uploads.finish(view.actor, upload))


def _answer(upload: Upload, offset: int, *, done: bool, path: str | None = None) -> Any:
    return s.UploadSerializer(
        {
            "id": upload.pk,
            "offset": offset,
            "size": upload.size,
            "part_bytes": uploads.PART_BYTES,
            "done": done,
            "path": path,
        }
    ).data


def _headers(upload: Upload, offset: int) -> dict[str, str]:
    return {"Upload-Offset": str(offset), "Upload-Length": str(upload.size), "Cache-Control": "no-store"}
