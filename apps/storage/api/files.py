"""The API of files: in volumes, dataset versions, homes of environments, outputs of runs."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import Access
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.files import download
from apps.storage import copying, jobs, listing, operations, texts, unpacking
from apps.storage.api import serializers as s
from apps.storage.api.shared import USE, VIEW
from apps.storage.choices import Clash
from apps.storage.roots import Root, resolve
from apps.storage.safe_open import open_file
from apps.storage.zipping import zip_response

PATH = OpenApiParameter("path", str, description="A path below the root; empty for the root itself.")
PATHS = OpenApiParameter(
    "path", str, many=True, description="What to take; all of it by default. May stand repeatedly."
)
BINARY = {(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY)}
ORDERS = ("name", "-name", "size", "-size", "modified", "-modified")
MAX_PER_PAGE = 1000


class FilesView(ScopedView):
    """Base of everything about one tree: `volume`, `folder` or `version` and its id."""

    access: ClassVar[Access | dict[str, Access]] = VIEW

    def root(self, *, write: bool = False) -> Root:
        return resolve(self.actor, self.kwargs["kind"], self.kwargs["root_id"], write=write)

    def _root_for(self, actor: Actor) -> Root:
        """The same tree, while its files are being sent."""
        return resolve(actor, self.kwargs["kind"], self.kwargs["root_id"])

    def asked(self, serializer: type[Any]) -> dict[str, Any]:
        found = serializer(data=self.request.data)
        found.is_valid(raise_exception=True)
        data: dict[str, Any] = found.validated_data
        return data

    def path(self) -> str:
        return str(self.request.query_params.get("path", ""))


class FileList(FilesView):
    @extend_schema(
        parameters=[
            PATH,
            OpenApiParameter("search", str, description="Only names that hold this."),
            OpenApiParameter("order", str, enum=ORDERS, description="`name` by default; folders always come first."),
            OpenApiParameter("page", int, description="From 1."),
            OpenApiParameter("page_size", int, description="At most 1,000; 100 by default."),
        ],
        responses=s.ListingSerializer,
    )
    def get(self, request: Request, kind: str, root_id: UUID) -> Response:
        """One folder, a page at a time. Links and special files are not shown."""
        order = request.query_params.get("order", "name")
        if order not in ORDERS:
            raise Invalid.field("order", ", ".join(ORDERS))
        page = listing.page_of(
            self.root().path,
            self.path(),
            search=request.query_params.get("search", ""),
            order=order,
            number=_number(request, "page", 1),
            per_page=min(MAX_PER_PAGE, max(1, _number(request, "page_size", listing.PER_PAGE))),
        )
        return Response(s.ListingSerializer(page).data)


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise Invalid.field(name, _("A whole number that is not negative is needed."))
    return int(text)


class FileFolders(FilesView):
    access = {"get": VIEW, "post": USE}

    @extend_schema(parameters=[PATH], responses=s.EntrySerializer(many=True))
    def get(self, request: Request, kind: str, root_id: UUID) -> Response:
        """The folders in a folder, the first 500 by name."""
        return Response(s.EntrySerializer(listing.folders_of(self.root().path, self.path()), many=True).data)

    @extend_schema(request=s.NewFolderSerializer, responses={201: s.PathSerializer})
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Make a folder."""
        root, data = self.root(write=True), self.asked(s.NewFolderSerializer)
        made = operations.create_folder(root, data["path"], data["name"])
        return Response({"path": made}, status=status.HTTP_201_CREATED)


class FileRename(FilesView):
    access = USE

    @extend_schema(request=s.RenameSerializer, responses=s.PathSerializer)
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Another name in the same folder; 409 where it is taken."""
        root, data = self.root(write=True), self.asked(s.RenameSerializer)
        return Response({"path": operations.rename(root, data["path"], data["name"])})


class FileMove(FilesView):
    access = USE

    @extend_schema(request=s.MoveSerializer, responses=s.MovedSerializer)
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Into another folder of the same tree. `clash` says what happens where a name is taken."""
        root, data = self.root(write=True), self.asked(s.MoveSerializer)
        moved = operations.move(root, data["paths"], data["folder"], Clash(data["clash"]))
        return Response({"paths": moved})


class FileCopy(FilesView):
    access = USE

    @extend_schema(request=s.CopySerializer, responses={202: s.JobSerializer})
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Into a folder of this or another tree, as a job."""
        data = self.asked(s.CopySerializer)
        source = self.root()
        target = resolve(self.actor, data.get("target_kind", source.kind), data.get("target_id", source.id), write=True)
        job = copying.start(self.actor, source, data["paths"], target, data["folder"], clash=Clash(data["clash"]))
        return Response(s.JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class FileDelete(FilesView):
    access = USE

    @extend_schema(request=s.PathsSerializer, responses=s.CountSerializer)
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Delete for good: files have no bin, whole volumes do."""
        root, data = self.root(write=True), self.asked(s.PathsSerializer)
        return Response({"count": operations.delete(root, data["paths"])})


class FileUnpack(FilesView):
    access = USE

    @extend_schema(request=s.PathSerializer, responses={202: s.JobSerializer})
    def post(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Unpack a zip into a new folder beside it, as a job."""
        root, data = self.root(write=True), self.asked(s.PathSerializer)
        job = unpacking.start(self.actor, root, data["path"])
        return Response(s.JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class FileText(FilesView):
    access = {"get": VIEW, "put": USE}

    @extend_schema(parameters=[PATH], responses=s.TextSerializer)
    def get(self, request: Request, kind: str, root_id: UUID) -> Response:
        """A text file of at most 1 MiB, with the etag that writing it back needs."""
        return Response(s.TextSerializer(texts.read_text(self.root(), self.path())).data)

    @extend_schema(parameters=[PATH], request=s.TextSerializer, responses=s.TextSerializer)
    def put(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Write it; 409 where it was changed since the etag was read."""
        root, data = self.root(write=True), self.asked(s.TextSerializer)
        etag = texts.write_text(root, self.path(), data["text"], etag=data["etag"], encoding=data["encoding"])
        return Response(s.TextSerializer({**data, "etag": etag}).data)


class FileContent(FilesView):
    @extend_schema(parameters=[PATH], responses=BINARY)
    def get(self, request: Request, kind: str, root_id: UUID) -> HttpResponseBase:
        """One file."""
        path = self.path()
        return download(open_file(self.root().path, path), path.rpartition("/")[2], visible=self._root_for)


class FileZip(FilesView):
    @extend_schema(parameters=[PATHS], responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)})
    def get(self, request: Request, kind: str, root_id: UUID) -> HttpResponseBase:
        """Files and folders as a zip that is made while it is sent."""
        paths = request.query_params.getlist("path") or [""]
        root = self.root()
        return zip_response(root.path, root.title, paths, visible=self._root_for)


class FileJobs(FilesView):
    @extend_schema(responses=s.JobSerializer(many=True))
    def get(self, request: Request, kind: str, root_id: UUID) -> Response:
        """Work on this tree that has not ended."""
        return Response(s.JobSerializer(jobs.open_jobs_of(self.root().id), many=True).data)


class JobDetail(ScopedView):
    access = {"get": VIEW, "delete": USE}

    @extend_schema(responses=s.JobSerializer)
    def get(self, request: Request, job_id: UUID) -> Response:
        """How far one's own job is."""
        return Response(s.JobSerializer(jobs.get(self.actor, job_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, job_id: UUID) -> Response:
        """Cancel it; what it has written stays."""
        jobs.cancel(self.actor, jobs.get(self.actor, job_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
