"""The API of training: the same services and permissions as the pages."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid, NotFound
from apps.common.files import download
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.registry import selectors as registry
from apps.registry.facts import Facts, facts_of
from apps.registry.image_serializers import ImageSerializer
from apps.registry.models import Image
from apps.registry.scanning.verdicts import Known, known_of
from apps.storage import services as storage
from apps.storage.models import FolderKind
from apps.training import selectors, services
from apps.training import serializers as s
from apps.training.models import Run
from apps.training.run_cursor import RunCursor, in_asked_order
from apps.training.tables import RunFilter
from apps.training.upload_serializers import FolderSerializer, UploadSerializer
from apps.workloads import selectors as workloads
from apps.workloads.fit.serializers import FitSerializer
from apps.workloads.fit.smaller import fit_of
from apps.workloads.launching.form import new_key
from apps.workloads.logs.api import LogBytes, LogLines, LogSearch, LogView
from apps.workloads.models import Workload
from apps.workloads.series import series_of
from apps.workloads.tagging import set_tags

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
# Of a workload: what its pages read and an answer of this list does not say.
UNSAID = ("explanation", "reason_data", "promised_nodes", "tag_keys")
RANK = OpenApiParameter("rank", int, description="Whose, of several members; that of rank 0 by default.")
SORT = OpenApiParameter(
    "sort",
    str,
    description="By the last value of a metric: `metric:loss`, or `-metric:loss` for the greatest first; runs without "
    "it come last. The newest first by default.",
)
PATH = OpenApiParameter("path", str, description="A path below the run's output folder; empty for the folder itself.")


def idempotency_key(request: Request) -> str:
    """The request's own key, or a new one: also where a run was started under it long ago it starts nothing again."""
    return key_of(request._request) or new_key()


class RunView(ScopedView):
    """Base of everything about one run, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = VIEW

    def run(self) -> Run:
        return selectors.get(self.actor, self.kwargs["run_id"])


class ImageList(ScopedView, generics.ListAPIView[Image]):
    """Images that runs can use."""

    access = VIEW
    serializer_class = ImageSerializer
    pagination_class = CreatedCursor
    facts: Mapping[UUID, Facts] = MappingProxyType({})
    known: Mapping[UUID, Known] = MappingProxyType({})
    queryset = Image.objects.none()  # for the schema, which is drawn without an actor

    def get_queryset(self) -> QuerySet[Image]:
        return registry.images(self.actor, containers=True)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Asks for the facts of the page at once."""
        page = super().paginate_queryset(queryset)
        self.facts, self.known = facts_of(page or ()), known_of(self.actor.organisation_id, page or ())
        return page

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "facts": self.facts, "known": self.known}


class RunList(ScopedView, generics.ListCreateAPIView[Run]):
    """The newest first, or in the order that is asked for."""

    access = {"get": VIEW, "post": SUBMIT}
    serializer_class = s.RunSerializer
    filterset_class = RunFilter
    pagination_class = RunCursor

    def get_queryset(self) -> QuerySet[Run]:
        if getattr(self, "swagger_fake_view", False):  # the schema is drawn without an actor
            return Run.objects.none()
        return selectors.in_list(self.actor).defer(*(f"workload__{name}" for name in UNSAID))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return in_asked_order(self.request, super().filter_queryset(queryset))

    @extend_schema(parameters=[SORT])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Training runs: the actor's own, or all of the organisation's for who manages them."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=s.SubmitSerializer, responses={201: s.RunDetailSerializer})
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Start a run: validated, quota reserved, money held, code frozen, queued; or nothing at all."""
        asked = s.SubmitSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        run = services.submit(self.actor, asked.as_request(idempotency_key(request)))
        return Response(run_detail(selectors.get(self.actor, run.pk)), status=status.HTTP_201_CREATED)


def run_detail(run: Run) -> Any:
    return s.RunDetailSerializer(run, context={"attempts": workloads.attempts(run.workload)}).data


class RunDetail(RunView):
    access = {"get": VIEW, "patch": SUBMIT}

    @extend_schema(responses=s.RunDetailSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """One run with its command, its attempts, why it waits or how it failed."""
        return Response(run_detail(self.run()))

    @extend_schema(request=s.RunTagsSerializer, responses=s.RunDetailSerializer)
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Change its tags, whether it runs or has ended. What is metered already keeps those of its beginning."""
        run = self.run()  # before the body: a stranger learns nothing from what is wrong with it
        asked = s.RunTagsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        set_tags(self.actor, run.workload, asked.validated_data["tags"])
        return Response(run_detail(self.run()))


class RunStop(RunView):
    access = SUBMIT

    @extend_schema(request=None, responses={202: s.RunDetailSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Ask it to end: what waits ends at once, what runs gets 20 seconds to save. 409 where it has ended already."""
        run = self.run()
        services.stop(self.actor, run)
        return Response(run_detail(self.run()), status=status.HTTP_202_ACCEPTED)


class RunRerun(RunView):
    access = SUBMIT

    @extend_schema(request=None, responses={201: s.RunDetailSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """The same again as the next version, at today's price."""
        again = services.rerun(self.actor, self.run(), key=idempotency_key(request))
        return Response(run_detail(selectors.get(self.actor, again.pk)), status=status.HTTP_201_CREATED)


class RunLogView(LogView):
    access = VIEW

    def workload(self) -> Workload:
        return selectors.get(self.actor, self.kwargs["run_id"]).workload


class RunLog(RunLogView, LogBytes):
    """The log as bytes."""


class RunLogLines(RunLogView, LogLines):
    """The log by lines."""


class RunLogSearch(RunLogView, LogSearch):
    """A text in the log."""


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise Invalid.field(name, _("A whole number that is not negative is needed."))
    return int(text)


class RunOutputs(RunView):
    @extend_schema(parameters=[PATH], responses=s.OutputSerializer(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """What the run has written so far, one folder at a time."""
        items = selectors.outputs_or_none(self.run(), request.query_params.get("path", ""))
        if items is None:
            raise NotFound
        return Response(s.OutputSerializer(items, many=True).data)


class RunOutputFile(RunView):
    @extend_schema(
        parameters=[PATH], responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY)}
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """One file that the run wrote."""
        path = request.query_params.get("path", "")
        file = selectors.open_output(self.run(), path)
        return download(file, path.rpartition("/")[2], visible=lambda actor: selectors.get(actor, run_id))


class RunEvents(RunView):
    @extend_schema(
        parameters=[OpenApiParameter("after", int, description="Only events with a higher id.")],
        responses=s.EventSerializer(many=True),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """What happened, oldest first, at most 500 at a time."""
        rows = workloads.events(self.run().workload, after=_number(request, "after", 0))[:500]
        return Response(s.EventSerializer(rows, many=True).data)


class RunMetrics(RunView):
    @extend_schema(
        parameters=[
            OpenApiParameter("since", float, description="Only points after this time, in Unix seconds."),
            RANK,
        ],
        responses=s.SeriesSerializer(many=True),
    )
    def get(self, request: Request, run_id: UUID, name: str) -> Response:
        """Measurements of the newest attempt: `cpu`, `memory`, `gpu` or `gpu_memory`."""
        try:
            since = float(request.query_params.get("since", 0))
        except ValueError as error:
            raise Invalid.field("since", _("A time in Unix seconds is needed.")) from error
        series = series_of(self.run().workload, name, since, _number(request, "rank", 0))
        if series is None:
            raise NotFound
        return Response(s.SeriesSerializer(series, many=True).data)


class RunFit(RunView):
    @extend_schema(responses=FitSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """What it used at most, and which smaller package on offer would have done, in money."""
        workload = self.run().workload
        fit = fit_of(self.actor, workload, workloads.attempts(workload))
        return Response(FitSerializer(fit, context={"simulated": workload.simulated}).data)


class RunCost(RunView):
    @extend_schema(responses=s.CostSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """What it costs up to its last proof of running, and what of that is charged."""
        self.actor.require(Permission.BILLING_VIEW_OWN)
        run = self.run()
        cost = funds.workload_cost(self.actor, workload_id=run.workload_id)
        settled = run.workload.ended_at is not None and not cost.unrated_fen
        return Response(
            s.CostSerializer(
                {
                    "seconds": cost.seconds,
                    "rate_fen_per_hour": cost.rate_fen_per_hour,
                    "exact_fen": cost.exact_fen,
                    "charged_fen": cost.charged_fen,
                    "unrated_fen": cost.unrated_fen,
                    "credited_fen": cost.credited_exact,
                    "settled": settled,
                }
            ).data
        )


class CodeUpload(ScopedView):
    access = SUBMIT
    parser_classes = [MultiPartParser]

    @extend_schema(request={"multipart/form-data": UploadSerializer}, responses={201: FolderSerializer})
    def post(self, request: Request) -> Response:
        """Upload files for a run's code; the answer's `folder` is what a run names as `code`."""
        asked = UploadSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        begun = storage.own_folder(self.actor, data["folder"], FolderKind.CODE) if "folder" in data else None
        folder = storage.add_code(self.actor, begun, data["files"])
        answer = {"folder": folder.pk, "files": storage.file_names(folder)}
        return Response(FolderSerializer(answer).data, status=status.HTTP_201_CREATED)
