"""What the API of services reads and writes."""

from typing import Any

from rest_framework import serializers

from apps.common.tag_serializers import TagsListField
from apps.serving import selectors
from apps.serving.changing import MOST_ORIGINS, Settings
from apps.serving.choices import LONGEST_NAME, MOST_SCRIPT, DeploymentStatus, Ending, Held, Runtime
from apps.serving.door.addresses import origin
from apps.serving.drafts import (
    HIGHEST_PORT,
    LOWEST_PORT,
    MOST_AT_A_TIME,
    MOST_BODY_MIB,
    MOST_SMOKE,
    MOST_TIMEOUT_S,
    Draft,
)
from apps.serving.keys import MOST_OVERLAP_H, MOST_PER_MINUTE, KeyDraft, Lifetime
from apps.serving.models import Deployment, Scaling, Service, ServiceKey, ServiceVersion
from apps.serving.program import READY
from apps.serving.scaling import loads
from apps.serving.scaling.bounds import DEFAULT_PATIENCE_MIN, MOST_PATIENCE_MIN, MOST_TARGET
from apps.serving.scaling.deciding import Bounds
from apps.storage.choosing_serializers import ChosenSerializer
from apps.workloads.choices import Status
from apps.workloads.launching.request import Launch
from apps.workloads.launching.serializers import TermsSerializer
from apps.workloads.replicas.services import MOST_REPLICAS


class ServiceMountSerializer(ChosenSerializer):
    read_only = serializers.BooleanField(default=True)  # type: ignore[assignment]


class ReplicasStartSerializer(TermsSerializer):
    """Of how many replicas on which package."""

    replicas = serializers.IntegerField(min_value=1, max_value=MOST_REPLICAS, default=1)
    tags = TagsListField(required=False)

    def as_launch(self, key: str, name: str, image_id: Any) -> Launch:
        data = {name: value for name, value in self.validated_data.items() if name in _LAUNCH}
        return Launch(name=name, image_id=image_id, key=key, **data)


_LAUNCH = frozenset({"package_id", "preemptible", "cluster_id", "cap_fen", "tags", "note"})


class ServiceVersionDraftSerializer(ReplicasStartSerializer):
    """What the version runs, and on what it starts at once."""

    runtime = serializers.ChoiceField(choices=Runtime.choices)
    image = serializers.UUIDField(source="image_id")
    script = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MOST_SCRIPT, default="",
        help_text="Defines predict(model, inputs), and may define load() and SIGNATURE.",
    )  # fmt: skip
    command = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=4000,
        default="",
        help_text="Of an own server, as a shell splits it.",
    )
    model = serializers.UUIDField(
        source="model_id",
        required=False,
        allow_null=True,
        default=None,
        help_text="A version of a model, read-only at /model.",
    )
    mounts = ServiceMountSerializer(many=True, required=False, max_length=20)  # type: ignore[call-arg]
    port = serializers.IntegerField(min_value=LOWEST_PORT, max_value=HIGHEST_PORT, default=8080)
    health_path = serializers.CharField(max_length=200, default=READY)
    at_a_time = serializers.IntegerField(min_value=1, max_value=MOST_AT_A_TIME, default=1)
    timeout_s = serializers.IntegerField(min_value=1, max_value=MOST_TIMEOUT_S, default=60)
    body_limit_mib = serializers.IntegerField(min_value=1, max_value=MOST_BODY_MIB, default=16)
    repeatable = serializers.BooleanField(default=True)
    smoke_path = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    smoke_body = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MOST_SMOKE, default=""
    )
    version_note = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")

    def as_draft(self) -> Draft:
        data = self.validated_data
        names = ("image_id", "model_id", "script", "command", "port", "health_path", "at_a_time", "timeout_s",
                 "body_limit_mib", "repeatable", "smoke_path", "smoke_body")  # fmt: skip
        return Draft(
            runtime=Runtime(data["runtime"]),
            mounts=tuple(data.get("mounts", ())),
            note=data["version_note"],
            **{name: data[name] for name in names},
        )


class NewServiceSerializer(ServiceVersionDraftSerializer):
    name = serializers.CharField(max_length=LONGEST_NAME)
    note = serializers.CharField(required=False, allow_blank=True, max_length=200)


class ServiceSerializer(serializers.ModelSerializer[Service]):
    """`status` sums its replicas up; `ready` of `wanted` pass their health check."""

    address = serializers.SerializerMethodField()
    status = serializers.SerializerMethodField()
    ready = serializers.SerializerMethodField()
    wanted = serializers.SerializerMethodField()
    version = serializers.SerializerMethodField()
    coming_version = serializers.SerializerMethodField()

    class Meta:
        model = Service
        fields = (
            *("id", "name", "note", "address", "owner", "package", "replicas", "status", "ready", "wanted"),
            *("version", "coming_version", "cors_origins", "stops_at", "back_at_percent", "created_at"),
        )

    def get_address(self, row: Service) -> str:
        return origin(row.host)

    def _state(self, row: Service) -> selectors.State:
        """Of all rows of a page at once."""
        if not hasattr(self, "_states"):
            several: Any = getattr(self.parent, "instance", None)
            self._states = selectors.states([row] if several is None else several)
        return self._states[row.pk]

    def get_status(self, row: Service) -> Status:
        return self._state(row).status

    def get_ready(self, row: Service) -> int:
        return self._state(row).ready

    def get_wanted(self, row: Service) -> int:
        return self._state(row).wanted

    def get_version(self, row: Service) -> int | None:
        return _number(row, DeploymentStatus.ACTIVE)

    def get_coming_version(self, row: Service) -> int | None:
        return _number(row, DeploymentStatus.PREPARING)


def _number(row: Service, status: DeploymentStatus) -> int | None:
    rows: list[Deployment] = row.open  # type: ignore[attr-defined]
    return next((each.version.number for each in rows if each.status == status), None)


class ServiceSettingsSerializer(serializers.Serializer[Any]):
    note = serializers.CharField(required=False, allow_blank=True, max_length=200)
    cors_origins = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, max_length=MOST_ORIGINS
    )
    stops_at = serializers.DateTimeField(required=False, allow_null=True)
    back_at_percent = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=100,
        help_text="Of failing answers, from which a new version is left by itself for the one before; null: never.",
    )  # fmt: skip

    def over(self, row: Service) -> Settings:
        """What is not asked for stays."""
        data = self.validated_data
        origins = data.get("cors_origins", row.cors_origins)
        return Settings(
            data.get("note", row.note),
            tuple(origins),
            data.get("stops_at", row.stops_at),
            data.get("back_at_percent", row.back_at_percent),
        )


class ServiceVersionSerializer(serializers.ModelSerializer[ServiceVersion]):
    """One version; `argv` is the command of an own server, `mounts` the volumes and dataset versions it reads."""

    class Meta:
        model = ServiceVersion
        fields = (
            *(
                "id",
                "number",
                "runtime",
                "image",
                "script",
                "argv",
                "model",
                "mounts",
                "port",
                "health_path",
                "at_a_time",
            ),
            *("timeout_s", "body_limit_mib", "repeatable", "smoke_path", "smoke_body", "note", "author", "created_at"),
        )


class ServiceDeploymentSerializer(serializers.ModelSerializer[Deployment]):
    """One version as a set of replicas. `reason`: why it is over; empty while it is not.

    `went_back_at`: when its answers failed too often. `returns`: it is what was gone back to by itself.
    """

    version = serializers.IntegerField(source="version.number")
    version_id = serializers.UUIDField(source="version.pk")
    status = serializers.ChoiceField(choices=DeploymentStatus.choices)
    reason = serializers.ChoiceField(choices=Ending.choices)

    class Meta:
        model = Deployment
        fields = (
            *("id", "version", "version_id", "status", "reason", "reason_data", "author", "created_at", "active_at"),
            *("draining_since", "ended_at", "returns", "went_back_at"),
        )


class ServiceStartSerializer(serializers.Serializer[Any]):
    """The newest version, the package and the number of replicas of before, unless others are asked for."""

    version = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    package = serializers.IntegerField(source="package_id", required=False, min_value=1, max_value=2**31 - 1)
    replicas = serializers.IntegerField(required=False, min_value=1, max_value=MOST_REPLICAS)


class ServiceScaleSerializer(serializers.Serializer[Any]):
    replicas = serializers.IntegerField(min_value=1, max_value=MOST_REPLICAS)


class ServiceScalingSerializer(serializers.ModelSerializer[Scaling]):
    """`target`: requests in flight for each replica. `patience_min`: for so long fewer suffice before it has fewer.

    `held`: why it has fewer replicas than its load needs; empty where it has enough.
    """

    least = serializers.IntegerField(min_value=1, max_value=MOST_REPLICAS, default=1)
    most = serializers.IntegerField(min_value=1, max_value=MOST_REPLICAS)
    target = serializers.IntegerField(min_value=1, max_value=MOST_TARGET)
    patience_min = serializers.IntegerField(min_value=1, max_value=MOST_PATIENCE_MIN, default=DEFAULT_PATIENCE_MIN)
    held = serializers.ChoiceField(choices=Held.choices, read_only=True)
    in_flight = serializers.SerializerMethodField()

    class Meta:
        model = Scaling
        fields = ("least", "most", "target", "patience_min", "held", "in_flight")

    def get_in_flight(self, row: Scaling) -> float:
        return loads.of([row.pk]).get(row.pk, 0.0)

    def bounds(self) -> Bounds:
        return Bounds(**self.validated_data)


class ServiceKeySerializer(serializers.ModelSerializer[ServiceKey]):
    class Meta:
        model = ServiceKey
        fields = (
            *("id", "name", "prefix", "per_minute", "author", "created_at", "expires_at", "revoked_at"),
            "last_used_at",
        )


class NewServiceKeySerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=60)
    lifetime = serializers.ChoiceField(choices=[each.value for each in Lifetime], default=Lifetime.NEVER.value)
    per_minute = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=MOST_PER_MINUTE)

    def draft(self) -> KeyDraft:
        data = self.validated_data
        return KeyDraft(data["name"], Lifetime(data["lifetime"]), data.get("per_minute"))


class ServiceKeyRotateSerializer(serializers.Serializer[Any]):
    overlap_h = serializers.IntegerField(default=24, min_value=0, max_value=MOST_OVERLAP_H)


class MadeServiceKeySerializer(serializers.Serializer[Any]):
    """`secret` is answered this once."""

    key = ServiceKeySerializer()
    secret = serializers.CharField()


class ServiceMinuteSerializer(serializers.Serializer[Any]):
    """Of all keys together; `p50`, `p95`: ms until an answer began. `failed`: answers from 500 on, or
    none. `refused`: by the door itself."""

    minute = serializers.DateTimeField()
    requests = serializers.IntegerField()
    failed = serializers.IntegerField(source="errors")
    refused = serializers.IntegerField()
    p50 = serializers.FloatField(allow_null=True)
    p95 = serializers.FloatField(allow_null=True)
