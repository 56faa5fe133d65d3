"""/api/v1/workloads/<id>/contract/: how work may be asked to give way, whether it has been, and what that cost."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.permissions import Permission
from apps.workloads import selectors
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy
from apps.workloads.models import Preemption, Workload
from apps.workloads.queueing.contract import ContractClass, contract_of
from apps.workloads.queueing.words import contract_lines, contract_title

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
