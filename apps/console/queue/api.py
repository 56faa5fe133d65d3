"""/api/v1/console/queue/: what the queue's pages show. `?world=simulated` and `?model=` as on the pages.

Amounts of cards are thousandths of a card.
"""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.queue import serializers as out
from apps.console.queue.selectors import demand
from apps.console.queue.selectors import fairness as fair
from apps.console.queue.selectors import fragments as pieces
from apps.console.queue.selectors import lanes as future
from apps.console.queue.selectors import preemptions as past
from apps.console.queue.selectors import rows as reads
from apps.console.queue.selectors.board import board
from apps.console.queue.selectors.focus import Focus, models, passed
from apps.workloads.models import Preemption, SchedulerEpoch, Workload
from apps.workloads.queueing import estimates, standstill

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
WORK = on_platform(P.PLATFORM_WORKLOADS_VIEW)
TAGS = ["console: queue"]
FOCUS = [
    OpenApiParameter("world", str, enum=["real", "simulated"], description="Which machines; real unless told."),
    OpenApiParameter("model", str, description="Only cards of this model."),
]


class Focused(ScopedView):
    """Reads the world and the card model from the query."""

    @property
    def focus(self) -> Focus:
        asked = out.FocusIn(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        simulated, model = asked.validated_data["world"] == "simulated", asked.validated_data["model"]
        if model and model not in models(simulated=simulated):
            raise serializers.ValidationError({"model": ["There is no such card."]})
        return Focus(simulated, model)


@extend_schema(tags=TAGS, parameters=FOCUS, responses=out.SummaryOut)
class Queue(Focused):
    access = VIEW

    def get(self, request: Request) -> Response:
        """What waits, for what causes and how long; how much of the cards is given out, fragmented, stranded."""
        focus, at = self.focus, passed()
        lines = pieces.lines(focus, board(focus.simulated, at))
        found = {
            "last_pass": SchedulerEpoch.objects.filter(pk=1).first(),
            "standstill": standstill.standstill_to_show(focus.simulated),
            "waiting": demand.summed(demand.asked(focus, at)),
            "waits": demand.waits(focus),
            "cards": pieces.totals(lines),
        }
        return Response(out.SummaryOut(found).data)


@extend_schema(tags=TAGS, parameters=FOCUS, responses=out.ShareOut(many=True))
class Fairness(Focused):
    access = VIEW

    def get(self, request: Request) -> Response:
        """Every organisation that holds, asks for, was promised or lately used cards."""
        focus, at = self.focus, passed()
        found = fair.shares(focus, board(focus.simulated, at), demand.asked(focus, at))
        return Response(out.ShareOut(found, many=True).data)


class ByQueueing(CreatedCursor):
    """In the order of queueing: that of turns changes with every pass, which no cursor survives."""

    ordering = "queued_at"


@extend_schema(tags=TAGS, parameters=FOCUS)
class Waiting(Focused, generics.ListAPIView[Workload]):
    """What waits, the oldest first; `position` is its place in the order of turns at the last pass."""

    access = WORK
    queryset = Workload.objects.none()
    serializer_class = out.WaitingOut
    pagination_class = ByQueueing
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Workload]:
        return reads.by_time(self.actor, self.focus)

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return page if page is None else reads.told(page)


@extend_schema(tags=TAGS, parameters=FOCUS, responses=out.KeptOut(many=True))
class Reservations(Focused):
    access = WORK

    def get(self, request: Request) -> Response:
        """What waits with room kept for it, the oldest promise first."""
        return Response(out.KeptOut([reads.kept(workload) for workload in future.promises(self.focus)], many=True).data)


@extend_schema(tags=TAGS, parameters=FOCUS, responses=out.ModelOut(many=True))
class Fragments(Focused):
    access = VIEW

    def get(self, request: Request) -> Response:
        """Cards by model: used, idle, of no use to any package on offer, out of reach."""
        focus, at = self.focus, passed()
        return Response(out.ModelOut(pieces.lines(focus, board(focus.simulated, at)), many=True).data)


class NewestAsked(CreatedCursor):
    ordering = "-asked_at"


@extend_schema(tags=TAGS, parameters=FOCUS)
class Preemptions(Focused, generics.ListAPIView[Preemption]):
    """Attempts that were asked to give way, newest first."""

    access = WORK
    queryset = Preemption.objects.none()
    serializer_class = out.GaveWayOut
    pagination_class = NewestAsked
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Preemption]:
        return past.preemptions(self.actor, self.focus)

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return page if page is None else past.with_gainers(page)


@extend_schema(tags=TAGS, parameters=FOCUS[:1], responses=out.ScorecardOut)
class Estimates(Focused):
    access = VIEW

    def get(self, request: Request) -> Response:
        """How well the starts of the last 30 days were foretold."""
        return Response(out.ScorecardOut(estimates.scorecard(self.actor, simulated=self.focus.simulated)).data)
