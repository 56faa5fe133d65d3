"""The API of experiments: the same services and permissions as the pages."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.automl import selectors, services
from apps.automl import serializers as s
from apps.automl.models import Experiment, Trial
from apps.automl.tables import ExperimentFilter
from apps.common.access import Access, in_organisation
from apps.common.api import ScopedView
from apps.common.idempotency import key_of
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission
from apps.workloads.launching.form import new_key

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


class ExperimentView(ScopedView):
    """Base of everything about one experiment, which must be visible to the actor."""

    access: ClassVar[Access | dict[str, Access]] = SUBMIT

    def experiment(self) -> Experiment:
        return selectors.get(self.actor, self.kwargs["experiment_id"])

    def answer(self, code: int = status.HTTP_200_OK) -> Response:
        return Response(s.ExperimentSerializer(self.experiment()).data, status=code)


class ExperimentList(ScopedView, generics.ListAPIView[Experiment]):
    """Experiments: the actor's own, or all of the organisation's for who manages its runs; newest first."""

    access = {"get": VIEW, "post": SUBMIT}
    queryset = Experiment.objects.none()
    serializer_class = s.ExperimentSerializer
    filterset_class = ExperimentFilter
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Experiment]:
        return selectors.experiments(self.actor)

    @extend_schema(request=s.NewExperimentSerializer, responses={201: s.ExperimentSerializer})
    def post(self, request: Request) -> Response:
        """Start an experiment on a run. Fields of parameters are named `parameters.<index>.<field>` in a refusal."""
        asked = s.NewExperimentSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        wanted = s.wanted_of(asked.validated_data, key_of(request._request) or new_key())
        made = services.create(self.actor, wanted)
        shown = s.ExperimentSerializer(selectors.get(self.actor, made.pk)).data
        return Response(shown, status=status.HTTP_201_CREATED)


class ExperimentDetail(ExperimentView):
    access = {"get": VIEW, "patch": SUBMIT, "delete": SUBMIT}

    @extend_schema(responses=s.ExperimentSerializer)
    def get(self, request: Request, experiment_id: UUID) -> Response:
        """One experiment."""
        return self.answer()

    @extend_schema(request=s.ExperimentChangeSerializer, responses=s.ExperimentSerializer)
    def patch(self, request: Request, experiment_id: UUID) -> Response:
        """Change how wide and how long it searches. 409 once it is ending."""
        asked = s.ExperimentChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        experiment = self.experiment()
        names = ("parallel", "most_trials", "most_failed", "budget_fen")
        services.change(
            self.actor,
            experiment,
            **{name: asked.validated_data.get(name, getattr(experiment, name)) for name in names},
        )
        return self.answer()

    @extend_schema(responses={204: None})
    def delete(self, request: Request, experiment_id: UUID) -> Response:
        """Delete it; the runs of its trials stay. 409 while it has not ended."""
        services.delete(self.actor, self.experiment())
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExperimentStop(ExperimentView):
    @extend_schema(request=None, responses={202: s.ExperimentSerializer})
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """Ask it to end, and its trials with it. 409 where it has ended already."""
        services.stop(self.actor, self.experiment())
        return self.answer(status.HTTP_202_ACCEPTED)


class ExperimentPause(ExperimentView):
    @extend_schema(request=None, responses=s.ExperimentSerializer)
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """No new trials from now on; those that run go on."""
        services.pause(self.actor, self.experiment(), paused=True)
        return self.answer()

    @extend_schema(responses={200: s.ExperimentSerializer})
    def delete(self, request: Request, experiment_id: UUID) -> Response:
        """New trials again."""
        services.pause(self.actor, self.experiment(), paused=False)
        return self.answer()


class ExperimentGoOn(ExperimentView):
    @extend_schema(request=s.MoreTrialsSerializer, responses=s.ExperimentSerializer)
    def post(self, request: Request, experiment_id: UUID) -> Response:
        """More trials of one that has ended. 409 where it was started to be final, or has not ended."""
        asked = s.MoreTrialsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        services.go_on(self.actor, self.experiment(), more=asked.validated_data["more"])
        return self.answer()


class TrialList(ExperimentView, generics.ListAPIView[Trial]):
    """Its trials by number."""

    access = VIEW
    queryset = Trial.objects.none()
    serializer_class = s.TrialSerializer
    filter_backends: tuple[type, ...] = ()
    pagination_class = None

    def get_queryset(self) -> QuerySet[Trial]:
        return selectors.trials(self.experiment())


class TrialStop(ExperimentView):
    @extend_schema(request=None, responses={202: s.TrialSerializer})
    def post(self, request: Request, experiment_id: UUID, number: int) -> Response:
        """Give one trial up; the experiment goes on. 409 where it has ended already."""
        trial = selectors.trial(self.actor, experiment_id, number)
        services.stop_trial(self.actor, trial)
        shown: Any = s.TrialSerializer(selectors.trial(self.actor, experiment_id, number)).data
        return Response(shown, status=status.HTTP_202_ACCEPTED)
