"""/api/v1/workloads/<id>/…: under which contract work runs, why it waits, and starting it on another package."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.choices import Isolation
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Conflict
from apps.common.idempotency import key_of
from apps.common.permissions import Permission
from apps.console.portal.switching import start_instead
from apps.workloads import selectors
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy, Status
from apps.workloads.explaining.holders import HolderRow
from apps.workloads.explaining.rack import Rack
from apps.workloads.launching.form import new_key
from apps.workloads.models import Preemption, Workload
from apps.workloads.offers.alternatives import Alternative, would_start_now
from apps.workloads.queueing.contract import ContractClass, contract_of
from apps.workloads.queueing.words import contract_lines, contract_title
from apps.workloads.waiting import WaitReport, queue_card

VIEW = in_organisation(Permission.ORGANISATION_VIEW)
CLASSES = [(each.value, each.value) for each in ContractClass]


class PreemptionSerializer(serializers.ModelSerializer[Preemption]):
    """One time that it was asked. `lost_s`: work since the last checkpoint; `credited_fen`: what was given back."""

    attempt = serializers.IntegerField(source="attempt.number")
    why = serializers.ChoiceField(choices=PreemptionWhy.choices)
    outcome = serializers.ChoiceField(choices=PreemptionOutcome.choices)

    class Meta:
        model = Preemption
        fields = (
            "attempt",
            "why",
            "outcome",
            "asked_at",
            "leave_at",
            "kill_at",
            "ended_at",
            "lost_s",
            "credited_fen",
        )


class ContractSerializer(serializers.Serializer[Any]):
    """As things stand now. `preemptions`: newest first; one with outcome `asked` is the notice that runs."""

    kind = serializers.ChoiceField(choices=CLASSES)
    title = serializers.SerializerMethodField()
    lines = serializers.SerializerMethodField()
    priority = serializers.IntegerField()
    may_be_asked = serializers.BooleanField()
    notice_s = serializers.IntegerField()
    save_window_s = serializers.IntegerField()
    min_runtime_s = serializers.IntegerField()
    requeued_first = serializers.BooleanField()
    credited = serializers.BooleanField()
    preemptions = serializers.SerializerMethodField()

    def get_title(self, contract: Any) -> str:
        return contract_title(contract)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_lines(self, contract: Any) -> list[str]:
        return contract_lines(contract)

    @extend_schema_field(PreemptionSerializer(many=True))
    def get_preemptions(self, contract: Any) -> Any:
        return PreemptionSerializer(self.context["preemptions"], many=True).data


@extend_schema(tags=["workloads"], responses=ContractSerializer)
class ContractView(ScopedView):
    access = VIEW

    def get(self, request: Request, workload_id: UUID) -> Response:
        """Under which contract it waits or runs, and each time that it had to give way."""
        workload: Workload = selectors.get(self.actor, workload_id)
        rows = Preemption.objects.filter(attempt__workload=workload).select_related("attempt")
        return Response(ContractSerializer(contract_of(workload), context={"preemptions": rows}).data)


class StepSerializer(serializers.Serializer[Any]):
    """How many machines are left after this check; the checks come in the order in which they are applied."""

    name = serializers.CharField(read_only=True)
    label = serializers.CharField(read_only=True)  # type: ignore[assignment]
    count = serializers.IntegerField(read_only=True)


class HolderSerializer(serializers.Serializer[HolderRow]):
    """`name` and `owner` are empty for other organisations, whose `tasks` are counted. Ends null: not known."""

    name = serializers.CharField(read_only=True)
    owner = serializers.CharField(read_only=True)
    tasks = serializers.IntegerField(read_only=True)
    cards = serializers.FloatField(read_only=True)
    end_p50 = serializers.DateTimeField(read_only=True, allow_null=True)
    end_p90 = serializers.DateTimeField(read_only=True, allow_null=True)
    may_yield = serializers.BooleanField(read_only=True)
    why = serializers.CharField(read_only=True)


class PartSerializer(serializers.Serializer[Any]):
    """An eighth of a card or several. `name`: of work of the reader's own organisation."""

    width = serializers.IntegerField(read_only=True)
    taken = serializers.BooleanField(read_only=True)
    own = serializers.BooleanField(read_only=True)
    name = serializers.CharField(read_only=True)


class CardSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField(read_only=True)
    mode = serializers.CharField(read_only=True)
    model = serializers.CharField(read_only=True)
    useful = serializers.BooleanField(read_only=True)
    healthy = serializers.BooleanField(read_only=True)
    parts = PartSerializer(many=True, read_only=True)


class RackSerializer(serializers.Serializer[Rack]):
    """The machine that comes closest; `wanted` of its cards are needed."""

    node = serializers.CharField(read_only=True)
    wanted = serializers.IntegerField(read_only=True)
    cards = CardSerializer(many=True, read_only=True)


class AlternativeSerializer(serializers.Serializer[Alternative]):
    """A package on which it would start now, at what the organisation pays, and how much more than the present one."""

    package = serializers.IntegerField(source="package.pk", read_only=True)
    name_en = serializers.CharField(source="package.name_en", read_only=True)
    name_zh = serializers.CharField(source="package.name_zh", read_only=True)
    isolation = serializers.ChoiceField(source="package.isolation", choices=Isolation.choices, read_only=True)
    isolates_less = serializers.BooleanField(source="weaker", read_only=True)
    rate_fen_per_hour = serializers.DecimalField(30, 10, read_only=True)
    more_fen_per_hour = serializers.DecimalField(30, 10, read_only=True)
    room = serializers.IntegerField(read_only=True)
    effects = serializers.ListField(child=serializers.CharField(), read_only=True)


class ExplanationSerializer(serializers.Serializer[WaitReport]):
    """`cause` is the scheduler's code, `title` and `text` say it. `place` of `waiting` that want the same kind of card.

    `short`: what the `node` that comes closest lacks. `reserved`: room is kept for it.
    """

    cause = serializers.CharField(read_only=True)
    title = serializers.CharField(read_only=True)
    text = serializers.CharField(read_only=True)
    at = serializers.DateTimeField(read_only=True, allow_null=True)
    funnel = StepSerializer(many=True, read_only=True)
    position = serializers.IntegerField(read_only=True, allow_null=True)
    place = serializers.IntegerField(read_only=True, allow_null=True)
    waiting = serializers.IntegerField(read_only=True, allow_null=True)
    node = serializers.CharField(read_only=True)
    short = serializers.CharField(read_only=True)
    reserved = serializers.BooleanField(read_only=True)
    start_p50 = serializers.DateTimeField(read_only=True, allow_null=True)
    start_p90 = serializers.DateTimeField(read_only=True, allow_null=True)
    priority = serializers.CharField(read_only=True)
    holders = HolderSerializer(many=True, read_only=True)
    rack = RackSerializer(read_only=True, allow_null=True)
    alternatives = serializers.SerializerMethodField()

    @extend_schema_field(AlternativeSerializer(many=True))
    def get_alternatives(self, report: WaitReport) -> Any:
        return AlternativeSerializer(self.context["alternatives"], many=True).data


@extend_schema_serializer(component_name="StartedInstead")
class StartedSerializer(serializers.Serializer[Workload]):
    """The workload that has taken the place of the one that waited."""

    workload = serializers.UUIDField(source="pk", read_only=True)
    kind = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    package = serializers.IntegerField(source="package_id", read_only=True)
    status = serializers.ChoiceField(choices=Status.choices, read_only=True)


@extend_schema(tags=["workloads"], responses=ExplanationSerializer)
class Explanation(ScopedView):
    access = VIEW

    def get(self, request: Request, workload_id: UUID) -> Response:
        """Why it waits, who holds what, when it should start, on which packages it would start now.

        409 where it does not wait.
        """
        workload = selectors.get(self.actor, workload_id)
        if workload.status != Status.QUEUED:
            raise Conflict(_("It does not wait."))
        other = would_start_now(self.actor, workload, selectors.attempts(workload))
        report = queue_card(self.actor, workload)
        return Response(ExplanationSerializer(report, context={"alternatives": other.rows}).data)


@extend_schema(tags=["workloads"], request=None, responses={201: StartedSerializer})
class StartInstead(ScopedView):
    access = VIEW

    def post(self, request: Request, workload_id: UUID, package_id: int) -> Response:
        """Cancel what waits and start it on this package, in one step: a run as its next version, an environment with
        its package changed. 409 where it does not wait any more or would not start at once; then nothing happens."""
        workload = selectors.get(self.actor, workload_id)
        key = key_of(request._request) or new_key()
        started = start_instead(self.actor, workload, package_id=package_id, key=key)
        return Response(StartedSerializer(started).data, status=status.HTTP_201_CREATED)
