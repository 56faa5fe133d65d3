"""How the contract of giving way is told in the API."""

from typing import Any

from rest_framework import serializers

from apps.workloads.queueing.contract import ContractClass


class PreemptionContractSerializer(serializers.Serializer[Any]):
    """Who may ask the work to give way, and how: seconds of notice until SIGTERM, then of the save window.

    It follows from what the organisation is guaranteed and uses at this moment, and may change while the work runs.
    """

    kind = serializers.ChoiceField(choices=[each.value for each in ContractClass], read_only=True)
    priority = serializers.IntegerField(read_only=True)
    notice_s = serializers.IntegerField(read_only=True)
    save_window_s = serializers.IntegerField(read_only=True)
    min_runtime_s = serializers.IntegerField(read_only=True)
    may_be_asked = serializers.BooleanField(read_only=True)
    requeued_first = serializers.BooleanField(read_only=True)
    credited = serializers.BooleanField(read_only=True)
