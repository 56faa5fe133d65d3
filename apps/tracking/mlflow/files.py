"""`/api/2.0/mlflow-artifacts/…`: artifacts through this server, where `mlflow-artifacts:/` leads clients of MLflow.

The first name of a path is the id of a run. The server has put a body into a file before a view sees it, so memory
stays flat whatever the size.
"""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.actor import Actor
from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.common.files import CHUNK, download
from apps.common.permissions import Permission
from apps.common.streams import Stream
from apps.tenants.bearer import BearerToken
from apps.tracking import artifacts
from apps.tracking.artifacts import Place
from apps.tracking.bearer import RunToken
from apps.tracking.mlflow import shapes
from apps.tracking.mlflow.asked import run_id_of
from apps.tracking.mlflow.errors import NotSupported, mlflow_error
from apps.tracking.reach import Reach
from apps.tracking.run_tokens import RunGrant
from apps.workloads.models import Workload

MULTIPART = "Multipart upload is not supported for the current artifact repository"
"""Clients compare this sentence, and then send the file in one piece: it has no translation."""


class AnyBytes(BaseParser):
    """Leaves a body of any type where it is."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream


class FilesOfRuns(ScopedView):
    """Only by tokens, as `api.Mlflow`."""

    access = in_organisation(Permission.ORGANISATION_VIEW)
    authentication_classes = (RunToken, BearerToken)
    parser_classes = (AnyBytes,)

    @property
    def grant(self) -> RunGrant | None:
        return self.request.auth if isinstance(self.request.auth, RunGrant) else None

    def found(self, path: str) -> tuple[Workload, Place, str]:
        """The workload, the place and the path in it of `<id of a run>/<path>`; raises `NotFound`."""
        name, _slash, rest = path.strip("/").partition("/")
        run_id = run_id_of(name)
        workload = Reach(self.actor, self.grant).workload_of(run_id)
        return workload, artifacts.place_of(workload, run_id), rest

    def get_exception_handler(self) -> Any:
        return mlflow_error


@extend_schema(exclude=True)
class Artifacts(FilesOfRuns):
    def get(self, request: Request) -> Response:
        """One folder: `?path=`."""
        _workload, place, path = self.found(request.query_params.get("path", ""))
        return Response({"files": [shapes.artifact(each, each.name) for each in artifacts.listing(place, path)]})


@extend_schema(exclude=True)
class Artifact(FilesOfRuns):
    def get(self, request: Request, artifact: str) -> Stream:
        workload, place, path = self.found(artifact)
        grant = self.grant

        def visible(actor: Actor) -> None:
            if Reach(actor, grant).workload(workload.pk) is None:
                raise NotFound

        return download(artifacts.opened(place, path), path.rpartition("/")[2], visible=visible)

    def put(self, request: Request, artifact: str) -> Response:
        workload, place, path = self.found(artifact)
        reach = Reach(self.actor, self.grant)
        size = _size(request)
        artifacts.store(place, path, size=size, chunks=_chunks(request), admit=lambda: reach.admit_files(workload))
        return Response({})

    def delete(self, request: Request, artifact: str) -> Response:
        self.found(artifact)
        raise NotSupported(_("Artifacts are deleted with their run, on its page."))


@extend_schema(exclude=True)
class Multipart(FilesOfRuns):
    def post(self, request: Request, artifact: str) -> Response:
        raise NotSupported(MULTIPART)


def _size(request: Request) -> int:
    """Bytes of the body. Clients send an empty file as a body without a length."""
    text = request.headers.get("Content-Length", "") or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Invalid.field("Content-Length", _("A whole number that is not negative is needed."))
    return int(text)


def _chunks(request: Request) -> Iterator[bytes]:
    while chunk := request._request.read(CHUNK):
        yield chunk
