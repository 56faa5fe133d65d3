"""What the API of environments reads and writes. Money in fen per hour, as decimal strings."""

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from apps.envs import showing
from apps.envs.choices import SnapshotKind, State, Step, StepStatus
from apps.envs.models import Environment, Operation, Snapshot
from apps.envs.services.changing import Change
from apps.envs.services.create import Request
from apps.registry.models import Image
from apps.secrets.serializers import SecretUseSerializer
from apps.storage.choosing_serializers import ChosenSerializer
from apps.workloads.launching.serializers import LaunchSerializer
from apps.workloads.offers.serializers import MAX_ID


class MountSerializer(ChosenSerializer):
    """A volume, or a version of a dataset (always read-only), as it is mounted below /volumes and /datasets."""

    read_only = serializers.BooleanField(default=False)  # type: ignore[assignment]
    name = serializers.CharField(read_only=True)
    target = serializers.CharField(read_only=True)


class IdleSerializer(serializers.Serializer[Any]):
    """When it was last used, why that counts, and when it is released unless it is used before (null: never)."""

    since = serializers.DateTimeField()
    cause = serializers.CharField()
    release_at = serializers.DateTimeField(allow_null=True)


class EnvironmentSerializer(serializers.ModelSerializer[Environment]):
    """One environment. `state` and `note` are derived from its newest start."""

    owner = serializers.CharField(source="owner.username")
    workload = serializers.UUIDField(source="workload_id", allow_null=True)
    image = serializers.UUIDField(source="image_id")
    image_name = serializers.CharField(source="image.name")
    package = serializers.IntegerField(source="package_id")
    cluster = serializers.UUIDField(source="cluster_id", allow_null=True)
    also = serializers.ListField(child=serializers.IntegerField(), source="also_packages")
    cpu_package = serializers.IntegerField(source="cpu_package_id", allow_null=True)
    state = serializers.SerializerMethodField()
    state_text = serializers.SerializerMethodField()
    doing = serializers.SerializerMethodField()
    rate_fen_per_hour = serializers.SerializerMethodField()
    idle = serializers.SerializerMethodField()
    mounts = MountSerializer(many=True)
    tags = serializers.ListField(child=serializers.CharField())
    shutdown_daily = serializers.TimeField(
        source="shutdown_time", format="%H:%M", allow_null=True, help_text="In the time zone in which it was set."
    )
    deadline_at = serializers.DateTimeField(source="workload.deadline_at", allow_null=True, default=None)

    class Meta:
        model = Environment
        fields = (
            *("id", "code", "name", "note", "tags", "owner", "state", "state_text", "doing", "workload"),
            *("image", "image_name", "package", "also", "cluster", "cpu_package", "without_gpu"),
            *("vscode", "preemptible", "mounts"),
            *("rate_fen_per_hour", "idle_minutes", "idle", "keep_until", "snapshot_minutes", "cap_fen", "expires_at"),
            *("expected_s", "longest_s", "deadline_at", "gpu_idle_minutes", "shutdown_at", "shutdown_daily"),
            *("created_at", "deleted_at", "purge_at"),
        )

    def _shown(self, row: Environment) -> showing.Shown:
        now: datetime = self.context["now"]
        return showing.show(row, now)

    @extend_schema_field(serializers.ChoiceField(choices=State.choices))
    def get_state(self, row: Environment) -> str:
        return str(self._shown(row).state)

    def get_state_text(self, row: Environment) -> str:
        """Why it is so, or what comes next, in words."""
        return self._shown(row).note

    @extend_schema_field(serializers.ChoiceField(choices=Step.choices, allow_null=True))
    def get_doing(self, row: Environment) -> str | None:
        """What is under way; null where nothing is."""
        return getattr(row, "doing", None)

    @extend_schema_field(serializers.DecimalField(max_digits=30, decimal_places=10, allow_null=True))
    def get_rate_fen_per_hour(self, row: Environment) -> str | None:
        """What it costs now; null while nothing is charged."""
        charged, rate = self._shown(row).state in (State.RUNNING, State.STOPPING), row.paid_rate
        return f"{rate:.10f}" if charged and rate is not None else None

    @extend_schema_field(IdleSerializer(allow_null=True))
    def get_idle(self, row: Environment) -> Any:
        idle = self._shown(row).idle
        return IdleSerializer(idle).data if idle else None


class _Settings(LaunchSerializer):
    """Fields that creating and changing share. Null: never (idle, snapshots), or none (package without a GPU)."""

    name = serializers.CharField(max_length=60)
    cpu_package = serializers.IntegerField(
        source="cpu_package_id", required=False, allow_null=True, min_value=1, max_value=MAX_ID
    )
    without_gpu = serializers.BooleanField(required=False)
    vscode = serializers.BooleanField(required=False)
    idle_minutes = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=527040)
    snapshot_minutes = serializers.IntegerField(required=False, allow_null=True, min_value=10, max_value=44640)
    mounts = MountSerializer(many=True, required=False, max_length=20)  # type: ignore[call-arg]
    secrets = SecretUseSerializer(many=True, required=False, max_length=20)  # type: ignore[call-arg]


class CreateSerializer(_Settings):
    duration_days = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=3660)
    start = serializers.BooleanField(default=True)

    def as_request(self, key: str, *, idle_minutes: int | None) -> Request:
        """The service's request; the serializer must be valid. `idle_minutes`: where the caller names none."""
        return Request(**{"idle_minutes": idle_minutes, **self.launch_values()}, key=key)


class ChangeSerializer(_Settings):
    """Only what is named changes. `restart`: what runs may be stopped and started again where that is needed."""

    restart = serializers.BooleanField(default=False)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for name, field in fields.items():
            if name != "restart":  # what is left out stays as it is
                field.required, field.default = False, empty
        return fields

    def as_change(self) -> Change:
        values = self.launch_values()
        del values["restart"]
        return Change(**values)


class StopSerializer(serializers.Serializer[Any]):
    snapshot = serializers.BooleanField(default=False, help_text="Save the files first.")


class RenewSerializer(serializers.Serializer[Any]):
    duration_days = serializers.IntegerField(allow_null=True, min_value=1, max_value=3660)


class GpuSerializer(serializers.Serializer[Any]):
    """Detached, it runs on the package without a GPU; `restart` allows to stop and start what runs."""

    attached = serializers.BooleanField()
    cpu_package = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    restart = serializers.BooleanField(default=False)


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    """`ready_at` null: not complete."""

    kind = serializers.ChoiceField(choices=SnapshotKind.choices)

    class Meta:
        model = Snapshot
        fields = ("id", "kind", "note", "size_bytes", "file_count", "made_by", "created_at", "ready_at")


class NoteSerializer(serializers.Serializer[Any]):
    note = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")


class RollbackSerializer(serializers.Serializer[Any]):
    snapshot = serializers.UUIDField(allow_null=True, help_text="null: the initial image, an empty home.")


class OperationSerializer(serializers.ModelSerializer[Operation]):
    step = serializers.ChoiceField(choices=Step.choices)
    status = serializers.ChoiceField(choices=StepStatus.choices)

    class Meta:
        model = Operation
        fields = ("id", "step", "status", "tries", "error", "created_at", "ended_at")


class ServicesSerializer(serializers.Serializer[Any]):
    """Which of the services inside run."""

    jupyter = serializers.BooleanField()
    vscode = serializers.BooleanField()
    tensorboard = serializers.BooleanField()


class PointsSerializer(serializers.Serializer[Any]):
    """Points are [Unix seconds, value]."""

    name = serializers.CharField()
    unit = serializers.CharField()
    limit = serializers.FloatField(allow_null=True)
    points = serializers.ListField(child=serializers.ListField(child=serializers.FloatField()))


class FolderSerializer(serializers.Serializer[Any]):
    folder = serializers.CharField(max_length=1024, allow_blank=True, help_text="Below the home folder.")


class SaveImageSerializer(serializers.Serializer[Any]):
    """`tag`, `of_organisation` and `note` are for an environment in a container image, where there is a registry."""

    name = serializers.CharField(
        max_length=150, help_text="Of the image, up to 60; of the repository, where it goes into the registry."
    )
    shared = serializers.BooleanField(default=False, help_text="In the registry, share its repository instead.")
    tag = serializers.CharField(
        max_length=128, required=False, allow_blank=True, default="", help_text="Empty: the next number."
    )
    of_organisation = serializers.BooleanField(default=False, help_text="Into the organisation's own repositories.")
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class PersonalImageSerializer(serializers.ModelSerializer[Image]):
    base = serializers.CharField(source="base.key", allow_null=True, default=None)

    class Meta:
        model = Image
        fields = ("id", "key", "name", "requirements", "shared", "base", "created_at")


class SharedSerializer(serializers.Serializer[Any]):
    shared = serializers.BooleanField()
