"""A set of replicas in the API, and how it is scaled."""

from typing import Any

from rest_framework import serializers

from apps.workloads.choices import Status
from apps.workloads.models import ReplicaSet
from apps.workloads.replicas import selectors
from apps.workloads.replicas.services import MOST_REPLICAS


class ReplicaSerializer(serializers.Serializer[selectors.Replica]):
    """One that has not ended. `id` is that of its workload; `node` is empty while it waits.

    `restarts`: tries after its first. `again_at`: when it queues again after an end that nobody asked for; mostly null.
    """

    index = serializers.IntegerField()
    id = serializers.UUIDField(source="workload.pk")
    name = serializers.CharField(source="workload.name")
    status = serializers.ChoiceField(source="workload.status", choices=Status.choices)
    reason = serializers.CharField(source="workload.reason")
    node = serializers.CharField()
    since = serializers.DateTimeField()
    restarts = serializers.IntegerField()
    again_at = serializers.DateTimeField(allow_null=True)


class ReplicaSetSerializer(serializers.Serializer[dict[str, Any]]):
    """How many are wanted, and how many serve, start, wait and are being stopped.

    `status` sums them up: `running` as soon as one serves. `reason`: why all of it was ended, else empty.
    """

    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    wanted = serializers.IntegerField()
    serving = serializers.IntegerField()
    starting = serializers.IntegerField()
    waiting = serializers.IntegerField()
    leaving = serializers.IntegerField()
    reason = serializers.CharField()
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    replicas = ReplicaSerializer(many=True)


class ScaleSerializer(serializers.Serializer[Any]):
    """How many are wanted from now on. New ones queue at the price of now; of too many, those that serve least stop."""

    replicas = serializers.IntegerField(min_value=1, max_value=MOST_REPLICAS)


def set_data(found: ReplicaSet) -> dict[str, Any]:
    """What `ReplicaSetSerializer` writes; the caller has checked that the actor may see the set."""
    seen = selectors.summary(found)
    own = {name: getattr(found, name) for name in ("id", "name", "kind", "reason", "created_at", "ended_at")}
    counts = {name: getattr(seen, name) for name in ("wanted", "serving", "starting", "waiting", "leaving", "status")}
    shown = {**own, **counts, "replicas": selectors.replicas(found)}
    return dict(ReplicaSetSerializer(shown).data)
