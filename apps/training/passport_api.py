"""The API of a run's passport, which opens for the whole organisation."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.storage.choosing import DATASETS, VOLUMES
from apps.storage.digests import NoDigest, digest_of
from apps.storage.models import Folder
from apps.training import forking, passport, selectors
from apps.training.api import SUBMIT, VIEW
from apps.training.checkpoint_serializers import ContinuationSerializer
from apps.training.git.origin import origin_of
from apps.training.git.serializers import OriginSerializer
from apps.training.launchers.names import LauncherName
from apps.training.launchers.serializers import RankStartSerializer
from apps.training.passport import Passport
from apps.training.serializers import PairsField, exact
from apps.workloads.choices import Status
from apps.workloads.spec import Image


class SeedSerializer(serializers.Serializer[Any]):
    """`value`: empty where it is not for the reader. What the program does with it is not known."""

    name = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    by_platform = serializers.BooleanField()


class MachineSerializer(serializers.Serializer[Any]):
    """Where the last attempt that ran was, as it was when that began. `drivers`: versions by name."""

    node = serializers.CharField(source="attempt.node.name")
    arch = serializers.CharField(source="attempt.node.arch")
    attempt = serializers.IntegerField(source="attempt.number")
    facts = serializers.DictField(child=serializers.CharField())
    drivers = serializers.DictField(child=serializers.CharField())
    cards = serializers.ListField(child=serializers.CharField())


class DigestSerializer(serializers.Serializer[Any]):
    """Of all files of a folder together; `sha256` empty where there is none, for the reason in `problem`."""

    sha256 = serializers.CharField(allow_blank=True)
    files = serializers.IntegerField()
    size = serializers.IntegerField()
    problem = serializers.ChoiceField(choices=[each.value for each in NoDigest], allow_null=True)


class PassportSerializer(serializers.Serializer[Any]):
    """What identifies a run. `full` false: values of variables and names of secrets are left out.

    `code_digest`, `output_digest`: null until they are computed, in the background after the run has ended.
    """

    id = serializers.UUIDField(source="run.pk")
    name = serializers.CharField(source="run.name")
    version = serializers.IntegerField(source="run.version")
    family = serializers.UUIDField(source="run.family")
    parent = serializers.UUIDField(source="run.parent_id", allow_null=True)  # type: ignore[assignment]
    forked_from = serializers.UUIDField(source="run.forked_from_id", allow_null=True)
    code_shared = serializers.BooleanField(source="run.code_shared", help_text="Colleagues who fork it get its code.")
    owner = serializers.CharField(source="run.owner.username")
    full = serializers.BooleanField()
    status = serializers.ChoiceField(source="run.workload.status", choices=Status.choices)
    created_at = serializers.DateTimeField(source="run.created_at")
    started_at = serializers.DateTimeField(source="run.workload.started_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="run.workload.ended_at", allow_null=True)
    image = serializers.CharField(source="run.image.name")
    image_content = serializers.SerializerMethodField()
    command = serializers.ListField(child=serializers.CharField(), source="run.workload.frozen_spec.argv")
    arguments = PairsField(source="run.arguments")
    environment = serializers.SerializerMethodField()
    secrets = serializers.SerializerMethodField()
    mounts = serializers.SerializerMethodField()
    package = serializers.IntegerField(source="run.workload.package_id")
    members = serializers.IntegerField(source="run.workload.member_count")
    least_members = serializers.IntegerField(source="run.workload.frozen_spec.least_members", allow_null=True)
    launcher = serializers.ChoiceField(source="run.launcher", choices=LauncherName.choices)
    ranks = RankStartSerializer(many=True, source="run.workload.frozen_spec.ranks")
    price_version = serializers.IntegerField(source="run.workload.price_version.number")
    rate_fen_per_hour = exact(source="run.paid_rate")
    continues = ContinuationSerializer(source="began", allow_null=True)
    continued_by = serializers.SerializerMethodField()
    machine = serializers.SerializerMethodField()
    seeds = SeedSerializer(many=True)
    git = serializers.SerializerMethodField()
    code_digest = serializers.SerializerMethodField()
    output_digest = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_image_content(self, found: Passport) -> list[str]:
        """Its pinned requirements, or the digest of a container image."""
        image = found.run.workload.frozen_spec.image
        return list(image.requirements) if isinstance(image, Image) else [image.digest]

    @extend_schema_field(PairsField())
    def get_environment(self, found: Passport) -> list[list[str]]:
        """Variables as set; with empty values where they are not for the reader."""
        return [[name, value if found.full else ""] for name, value in found.run.environment]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_secrets(self, found: Passport) -> list[str]:
        """Names of the secrets that it was given; their values are nowhere."""
        return [each.name for each in found.run.workload.frozen_spec.secrets] if found.full else []

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_mounts(self, found: Passport) -> list[str]:
        """Where volumes and datasets were mounted."""
        targets = [mount.target for mount in found.run.workload.frozen_spec.mounts]
        return [target for target in targets if target.startswith((VOLUMES, DATASETS))]

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_continued_by(self, found: Passport) -> list[UUID]:
        return [row.run_id for row in found.continued]

    @extend_schema_field(MachineSerializer(allow_null=True))
    def get_machine(self, found: Passport) -> Any:
        """Null before it ran."""
        return MachineSerializer(found).data if found.attempt is not None else None

    @extend_schema_field(OriginSerializer(allow_null=True))
    def get_git(self, found: Passport) -> Any:
        """Null for code that was written or uploaded."""
        origin = origin_of(found.run.code)
        return None if origin is None else OriginSerializer(origin).data

    @extend_schema_field(DigestSerializer(allow_null=True))
    def get_code_digest(self, found: Passport) -> Any:
        return _digest(found.run.code)

    @extend_schema_field(DigestSerializer(allow_null=True))
    def get_output_digest(self, found: Passport) -> Any:
        return _digest(found.run.output)


def _digest(folder: Folder) -> Any:
    found = digest_of(folder)
    return None if found is None else DigestSerializer(found).data


class RunPassport(ScopedView):
    access = VIEW

    @extend_schema(responses=PassportSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Everything that identifies the run: what it is made of, where it ran, its seeds, digests of its files."""
        run = selectors.of_organisation(self.actor, run_id)
        return Response(PassportSerializer(passport.passport_of(self.actor, run)).data)


class SharingSerializer(serializers.Serializer[Any]):
    """`code_shared`: colleagues of the organisation who fork the run get its code. What was forked before keeps it."""

    code_shared = serializers.BooleanField()


class RunSharing(ScopedView):
    access = {"get": VIEW, "put": SUBMIT}

    @extend_schema(responses=SharingSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        return Response(SharingSerializer(selectors.get(self.actor, run_id)).data)

    @extend_schema(request=SharingSerializer, responses=SharingSerializer)
    def put(self, request: Request, run_id: UUID) -> Response:
        """Share its code with who forks it, or not any more; its owner alone."""
        run = selectors.get(self.actor, run_id)
        given = SharingSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        forking.share_code(self.actor, run, shared=given.validated_data["code_shared"])
        return Response(SharingSerializer(run).data)
