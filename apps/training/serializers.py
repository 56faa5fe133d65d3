"""What the API of training reads and writes. Money in fen; rates and exact amounts as decimal strings."""

from typing import Any
from uuid import UUID

from django.utils.translation import get_language
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.kept import KeptRows
from apps.common.tag_serializers import TagsListField
from apps.common.verbatim import VerbatimField
from apps.secrets.serializers import SecretUseSerializer
from apps.storage.choosing_serializers import ChosenSerializer
from apps.training.checkpoint_serializers import ContinuationSerializer, ResumeSerializer
from apps.training.continuing import Resume, continuation_of, continued_by
from apps.training.failures import advice_of
from apps.training.launchers.names import LauncherName
from apps.training.launchers.serializers import RankStartSerializer
from apps.training.metric_pages import progress_of
from apps.training.metric_serializers import MetricSettingsSerializer, ProgressSerializer, settings_in
from apps.training.models import Entry, Run
from apps.training.services import Request
from apps.workloads.attempt_serializers import AttemptSerializer
from apps.workloads.choices import TERMINAL, Fault, Status
from apps.workloads.launching.serializers import LaunchSerializer
from apps.workloads.models import Event
from apps.workloads.offers.serializers import LeastMembersField, MembersField
from apps.workloads.queueing.contract import contract_of
from apps.workloads.queueing.serializers import PreemptionContractSerializer
from apps.workloads.timeline import event_title
from apps.workloads.waiting import explain


def exact(**options: Any) -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=30, decimal_places=10, **options)


class PairsField(serializers.ListField):
    """Rows of a table: [[name, value], …]. A row without a value is a switch, one without a name is positional."""

    child = serializers.ListField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=4000),
        min_length=2,
        max_length=2,
    )

    def to_internal_value(self, data: Any) -> Any:
        return [tuple(pair) for pair in super().to_internal_value(data)]


class RunSerializer(serializers.ModelSerializer[Run]):
    """One run with the state of its workload."""

    owner = serializers.CharField(source="owner.username")
    workload = serializers.UUIDField(source="workload_id")
    package = serializers.IntegerField(source="workload.package_id")
    package_name = serializers.SerializerMethodField()
    status = serializers.ChoiceField(source="workload.status", choices=Status.choices)
    status_since = serializers.DateTimeField(source="workload.status_since")
    reason = serializers.CharField(source="workload.reason")
    fault = serializers.ChoiceField(source="workload.fault", choices=Fault.choices, allow_blank=True)
    priority = serializers.IntegerField(source="workload.priority")
    tags = serializers.ListField(child=serializers.CharField(), source="workload.tags")
    members = serializers.IntegerField(source="workload.member_count")
    least_members = serializers.IntegerField(source="workload.frozen_spec.least_members", allow_null=True)
    attempt = serializers.IntegerField(source="workload.attempt_number")
    price_version = serializers.IntegerField(source="workload.price_version.number")
    rate_fen_per_hour = exact(source="paid_rate")
    queued_at = serializers.DateTimeField(source="workload.queued_at")
    started_at = serializers.DateTimeField(source="workload.started_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="workload.ended_at", allow_null=True)
    expected_s = serializers.IntegerField(source="workload.expected_s", allow_null=True)
    longest_s = serializers.IntegerField(source="workload.longest_s", allow_null=True)
    deadline_at = serializers.DateTimeField(source="workload.deadline_at", allow_null=True)
    gpu_idle_minutes = serializers.IntegerField(source="workload.gpu_idle_minutes", allow_null=True)
    arguments = PairsField()
    environment = PairsField()

    class Meta:
        model = Run
        list_serializer_class = KeptRows
        fields = (
            "id",
            "name",
            "version",
            "family",
            "parent",
            "note",
            "owner",
            "workload",
            "image",
            "package",
            "package_name",
            "entry",
            "script",
            "arguments",
            "environment",
            "code",
            "status",
            "status_since",
            "reason",
            "fault",
            "priority",
            "tags",
            *("members", "least_members", "launcher"),
            "attempt",
            "price_version",
            "rate_fen_per_hour",
            "created_at",
            "archived_at",
            "queued_at",
            "started_at",
            "ended_at",
            *("expected_s", "longest_s", "deadline_at", "gpu_idle_minutes"),
        )

    def get_package_name(self, run: Run) -> str:
        return run.workload.package.name(get_language() or "")


class AheadSerializer(serializers.Serializer[Any]):
    """`tasks` are ahead for the same cards; with this run they need `cards`, of which `free` are free.

    At least `short` must fall free before all of them have started; the run may start earlier where it delays none.
    """

    tasks = serializers.IntegerField()
    cards = serializers.IntegerField()
    free = serializers.IntegerField()
    short = serializers.IntegerField()


class WaitSerializer(serializers.Serializer[Any]):
    """Why a queued run waits, in words and as the scheduler's code of the dominant cause.

    `ahead`: null for what does not wait for whole cards.
    """

    cause = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    position = serializers.IntegerField(allow_null=True)
    start_p50 = serializers.DateTimeField(allow_null=True)
    start_p90 = serializers.DateTimeField(allow_null=True)
    ahead = AheadSerializer(allow_null=True)


class RunDetailSerializer(RunSerializer):
    """A run with what its page says of it: the command, why it waits, how it failed, its attempts (newest first).

    `ranks`: what each member starts; empty where all start the command.
    """

    command = serializers.ListField(child=serializers.CharField(), source="workload.frozen_spec.argv")
    ranks = RankStartSerializer(many=True, source="workload.frozen_spec.ranks")
    wait = serializers.SerializerMethodField()
    failure = serializers.SerializerMethodField()
    attempts = serializers.SerializerMethodField()
    contract = serializers.SerializerMethodField()
    also = serializers.SerializerMethodField()
    continues = serializers.SerializerMethodField()
    continued_by = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        more = (
            *("command", "ranks", "wait", "failure", "attempts", "contract", "also", "continues", "continued_by"),
            "progress",
        )
        fields = (*RunSerializer.Meta.fields, *more)  # type: ignore[assignment]

    @extend_schema_field(PreemptionContractSerializer(allow_null=True))
    def get_contract(self, run: Run) -> Any:
        """On what terms it may be asked to give way; null once it has ended."""
        return None if run.workload.status in TERMINAL else PreemptionContractSerializer(contract_of(run.workload)).data

    @extend_schema_field(WaitSerializer(allow_null=True))
    def get_wait(self, run: Run) -> Any:
        waits = run.workload.status == Status.QUEUED
        gpu = run.workload.frozen_spec.gpu
        return WaitSerializer(explain(run.workload.explanation, gpu=gpu)).data if waits else None

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_also(self, run: Run) -> list[int]:
        """Ids of all packages that would do, the one chosen first in front; empty where there was one alone."""
        return [option.package_id for option in run.workload.frozen_spec.options]

    @extend_schema_field(ProgressSerializer(allow_null=True))
    def get_progress(self, run: Run) -> Any:
        """How far it is, as its log says; null where it does not."""
        found = progress_of(run.workload)
        return None if found is None else ProgressSerializer(found).data

    def get_failure(self, run: Run) -> str | None:
        """What happened, in one sentence; null unless it failed."""
        return advice_of(run).title if run.workload.status == Status.FAILED else None

    @extend_schema_field(ContinuationSerializer(allow_null=True))
    def get_continues(self, run: Run) -> Any:
        """The checkpoint that it went on from; null for one that began from nothing."""
        row = continuation_of(run)
        return None if row is None else ContinuationSerializer(row).data

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_continued_by(self, run: Run) -> list[UUID]:
        """Ids of the runs that went on from its checkpoints, newest first."""
        return [row.run_id for row in continued_by(run)]

    @extend_schema_field(AttemptSerializer(many=True))
    def get_attempts(self, run: Run) -> Any:
        return AttemptSerializer(self.context["attempts"], many=True).data


class DataMountSerializer(ChosenSerializer):
    """A volume at `/volumes/<name>` or a dataset version (always read-only) at `/datasets/<name>`."""

    read_only = serializers.BooleanField(default=True)  # type: ignore[assignment]


class SubmitSerializer(LaunchSerializer):
    """A run to start. Its code: `text` (saved as `script`), `code` (a folder, from /training/code/ or from
    /training/code/git/), or the `parent`'s own.
    """

    entry = serializers.ChoiceField(choices=Entry.choices, default=Entry.PYTHON)
    script = serializers.CharField(max_length=200)
    text = VerbatimField(required=False, max_length=1 << 20)
    code = serializers.UUIDField(source="code_id", required=False)
    arguments = PairsField(required=False, max_length=100)
    environment = PairsField(required=False, max_length=100)
    parent = serializers.UUIDField(source="parent_id", required=False)  # type: ignore[assignment]
    mounts = DataMountSerializer(many=True, required=False, max_length=20)  # type: ignore[call-arg]
    priority = serializers.IntegerField(
        min_value=1, max_value=5, required=False, help_text="At most one's own highest."
    )
    members = MembersField()
    least_members = LeastMembersField()
    launcher = serializers.ChoiceField(choices=LauncherName.choices, default=LauncherName.NONE)
    secrets = SecretUseSerializer(many=True, required=False, max_length=20)  # type: ignore[call-arg]
    resume = ResumeSerializer(required=False, allow_null=True)
    metrics = MetricSettingsSerializer(required=False)
    fork_of = serializers.UUIDField(required=False, help_text="A run of the organisation whose passport is forked.")

    def as_request(self, key: str) -> Request:
        """The service's request; the serializer must be valid."""
        values = self.launch_values()
        resume = values.pop("resume", None)
        chosen = Resume(**resume) if resume else None
        kept = {"launcher": LauncherName(values["launcher"]), "metrics": settings_in(values.pop("metrics", {}))}
        return Request(**{**values, **kept, "entry": Entry(values["entry"]), "resume": chosen}, key=key)


class RunTagsSerializer(serializers.Serializer[Any]):
    """What can be changed of a run once it is submitted."""

    tags = TagsListField()


class EventSerializer(serializers.ModelSerializer[Event]):
    text = serializers.SerializerMethodField()

    class Meta:
        model = Event
        fields = ("id", "at", "kind", "status", "reason", "attempt_number", "actor_label", "text")

    def get_text(self, event: Event) -> str:
        return event_title(event)


class OutputSerializer(serializers.Serializer[Any]):
    """One entry of a folder of outputs; `size` in bytes."""

    name = serializers.CharField()
    path = serializers.CharField()
    is_folder = serializers.BooleanField()
    size = serializers.IntegerField()
    modified = serializers.DateTimeField()


class SeriesSerializer(serializers.Serializer[Any]):
    """Points are [Unix seconds, value]."""

    name = serializers.CharField()
    unit = serializers.CharField()
    limit = serializers.FloatField(allow_null=True)
    points = serializers.ListField(child=serializers.ListField(child=serializers.FloatField()))


class CostSerializer(serializers.Serializer[Any]):
    """`settled`: the run has ended and everything measured is charged."""

    seconds = exact()
    rate_fen_per_hour = exact(allow_null=True)
    exact_fen = exact()
    charged_fen = serializers.IntegerField()
    unrated_fen = exact()
    credited_fen = exact()
    settled = serializers.BooleanField()
