"""The API of pipelines: the same services and permissions as the pages."""

from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import PUBLIC, Access, in_organisation
from apps.common.actor import Channel, system_actor
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.pipelines import hooks, selectors, services, starting
from apps.pipelines import serializers as s
from apps.pipelines.choices import Cause
from apps.pipelines.models import Pipeline, PipelineRun, StepRun
from apps.pipelines.tables import PipelineFilter
from apps.workloads.launching.form import new_key

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
BEARER = "Bearer "


class PipelineView(ScopedView):
    """Base of everything about one pipeline, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = SUBMIT

    def pipeline(self) -> Pipeline:
        return selectors.get(self.actor, self.kwargs["pipeline_id"])

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        return Response(s.PipelineSerializer(self.pipeline()).data, status=code)


class PipelineList(ScopedView, generics.ListAPIView[Pipeline]):
    """Pipelines: the actor's own, or all of the organisation's for who manages its runs; newest first."""

    access = {"get": VIEW, "post": SUBMIT}
    queryset = Pipeline.objects.none()
    serializer_class = s.PipelineSerializer
    filterset_class = PipelineFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Pipeline]:
        return selectors.pipelines(self.actor)

    @extend_schema(request=s.PipelineDraftSerializer, responses={201: s.PipelineSerializer})
    def post(self, request: Request) -> Response:
        """Make a pipeline. Fields of steps are named `steps.<index>.<field>` in a refusal."""
        asked = s.PipelineDraftSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        key = key_of(request._request) or new_key()
        made = services.create(self.actor, s.draft_of(asked.validated_data), key=key)
        shown = s.PipelineSerializer(selectors.get(self.actor, made.pk)).data
        return Response(shown, status=status.HTTP_201_CREATED)


class PipelineDetail(PipelineView):
    access = {"get": VIEW, "put": SUBMIT, "delete": SUBMIT}

    @extend_schema(responses=s.PipelineSerializer)
    def get(self, request: Request, pipeline_id: UUID) -> Response:
        """One pipeline, as its newest version has it."""
        return self.answer()

    @extend_schema(request=s.PipelineDraftSerializer, responses=s.PipelineSerializer)
    def put(self, request: Request, pipeline_id: UUID) -> Response:
        """Change it: other steps, parameters or another budget are a new version."""
        asked = s.PipelineDraftSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        services.change(self.actor, self.pipeline(), s.draft_of(asked.validated_data))
        return self.answer()

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pipeline_id: UUID) -> Response:
        """Delete it; the training runs of its steps stay. 409 while a run of it has not ended."""
        services.delete(self.actor, self.pipeline())
        return Response(status=status.HTTP_204_NO_CONTENT)


class PipelineHookToken(PipelineView):
    @extend_schema(request=None, responses={201: s.HookTokenSerializer})
    def post(self, request: Request, pipeline_id: UUID) -> Response:
        """A new token for its webhook; the one before it is worth nothing from then on."""
        token = hooks.rotate(self.actor, self.pipeline())
        url = request.build_absolute_uri(reverse("api-pipeline-hook", args=[pipeline_id]))
        return Response({"token": token, "url": url}, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pipeline_id: UUID) -> Response:
        """It has no webhook any more."""
        hooks.revoke(self.actor, self.pipeline())
        return Response(status=status.HTTP_204_NO_CONTENT)


class PipelineHook(ScopedView):
    """Called by other systems, which have the pipeline's token and no account."""

    access = PUBLIC
    authentication_classes = ()

    @extend_schema(auth=[], request=s.HookStartSerializer, responses={202: s.PipelineRunSerializer})
    def post(self, request: Request, pipeline_id: UUID) -> Response:
        """Start it as its owner, by `Authorization: Bearer <token of the webhook>`. At most 30 times a minute."""
        asked = s.HookStartSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        key = asked.validated_data["key"] or key_of(request._request) or new_key()
        token = request.headers.get("Authorization", "").removeprefix(BEARER)
        with acting(system_actor(Channel.API)):
            pipeline = hooks.find(pipeline_id, token)
            spent = hooks.allowance(pipeline.pk)
            if spent.is_spent:
                raise exceptions.Throttled(wait=spent.left_s)
            row = hooks.start(pipeline, key=key, parameters=asked.validated_data["parameters"])
            return Response(s.PipelineRunSerializer(row).data, status=status.HTTP_202_ACCEPTED)


class PipelineRunList(PipelineView, generics.ListAPIView[PipelineRun]):
    """Its runs, newest first."""

    access = {"get": VIEW, "post": SUBMIT}
    queryset = PipelineRun.objects.none()
    serializer_class = s.PipelineRunSerializer
    filter_backends: tuple[type, ...] = ()
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[PipelineRun]:
        return selectors.runs_of(self.pipeline())

    @extend_schema(request=s.PipelineStartSerializer, responses={202: s.PipelineRunSerializer})
    def post(self, request: Request, pipeline_id: UUID) -> Response:
        """Start its newest version. The same Idempotency-Key starts it once."""
        asked = s.PipelineStartSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        key = key_of(request._request) or new_key()
        wanted = starting.Start(cause=Cause.API, key=key, parameters=asked.validated_data["parameters"])
        row = starting.start(self.actor, self.pipeline(), wanted)
        return Response(s.PipelineRunSerializer(row).data, status=status.HTTP_202_ACCEPTED)


class RunView(ScopedView):
    """Base of everything about one run of a pipeline, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = SUBMIT

    def run(self) -> PipelineRun:
        return selectors.get_run(self.actor, self.kwargs["pipeline_run_id"])

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        return Response(s.PipelineRunSerializer(self.run()).data, status=code)


class PipelineRunDetail(RunView):
    access = VIEW

    @extend_schema(responses=s.PipelineRunSerializer)
    def get(self, request: Request, pipeline_run_id: UUID) -> Response:
        """One run of a pipeline."""
        return self.answer()


class PipelineRunSteps(RunView, generics.ListAPIView[StepRun]):
    """All attempts at its steps, in the order in which they were made."""

    access = VIEW
    queryset = StepRun.objects.none()
    serializer_class = s.StepRunSerializer
    filter_backends: tuple[type, ...] = ()
    pagination_class = None

    def get_queryset(self) -> QuerySet[StepRun]:
        found: QuerySet[StepRun] = StepRun.objects.filter(pipeline_run=self.run()).order_by("attempt", "created_at")
        return found


class PipelineRunStop(RunView):
    @extend_schema(request=None, responses={202: s.PipelineRunSerializer})
    def post(self, request: Request, pipeline_run_id: UUID) -> Response:
        """Ask it to end, and its steps with it. 409 where it has ended already."""
        starting.stop(self.actor, self.run())
        return self.answer(status.HTTP_202_ACCEPTED)


class PipelineRunAgain(RunView):
    @extend_schema(request=s.RunAgainSerializer, responses={202: s.PipelineRunSerializer})
    def post(self, request: Request, pipeline_run_id: UUID) -> Response:
        """Run the steps again that did not succeed, or all from one on. 409 while it has not ended."""
        asked = s.RunAgainSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        starting.run_again(self.actor, self.run(), step=asked.validated_data["step"])
        return self.answer(status.HTTP_202_ACCEPTED)
