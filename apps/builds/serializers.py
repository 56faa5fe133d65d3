"""What the API of builds reads and writes."""

from typing import Any

from rest_framework import serializers

from apps.builds.containerfile import MOST_BYTES
from apps.builds.models import Build
from apps.builds.recipe import Recipe
from apps.builds.selectors import result
from apps.builds.services import LONGEST_NAME, Order
from apps.common.tag_serializers import TagsListField
from apps.registry.models import Image
from apps.registry.recipes.recipe import Group
from apps.workloads.choices import Status
from apps.workloads.drivers.said import Said
from apps.workloads.launching.request import Launch
from apps.workloads.launching.serializers import TermsSerializer
from apps.workloads.run_times import LEAST_S, MOST_S
from apps.workloads.words import sentence

NO_IMAGE = "00000000-0000-0000-0000-000000000000"


OWN = frozenset(
    {"containerfile", "base", "apt", "pip", "commands", "files", "tag", "for_organisation", "target", "without_cache"}
)
"""What is asked of a build alone."""


class OrderSerializer(TermsSerializer):
    """A Containerfile, or `base` with packages and commands, from which one is written."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    containerfile = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MOST_BYTES, default=""
    )
    base = serializers.UUIDField(required=False, allow_null=True, default=None, help_text="A container image's id.")
    apt = serializers.ListField(child=serializers.CharField(max_length=200), default=list, max_length=500)
    pip = serializers.ListField(child=serializers.CharField(max_length=300), default=list, max_length=500)
    commands = serializers.ListField(child=serializers.CharField(max_length=4000), default=list, max_length=90)
    files = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="The folder that uploading code answered with."
    )
    tag = serializers.CharField(
        required=False, allow_blank=True, max_length=128, default="",
        help_text="Of this version in the registry; the next number by default. A version is not overwritten.",
    )  # fmt: skip
    target = serializers.CharField(
        required=False, allow_blank=True, max_length=60, default="",
        help_text="Name or number of the stage to build; the last by default.",
    )  # fmt: skip
    for_organisation = serializers.BooleanField(
        required=False, default=False, help_text="Into the organisation's own images, for who manages them."
    )
    without_cache = serializers.BooleanField(
        required=False, default=False, help_text="Carry out each step, also those that an earlier build has done."
    )
    tags = TagsListField(required=False)
    longest_s = serializers.IntegerField(required=False, allow_null=True, min_value=LEAST_S, max_value=MOST_S)

    def as_order(self, base: Image | None) -> Order:
        """`base`: the image of that id. Raises `Invalid`."""
        data = self.validated_data
        text = data["containerfile"]
        if base is not None and not text.strip():
            made = Recipe(base.reference, data["apt"], data["pip"], data["commands"], bool(data["files"]))
            text = made.containerfile()
        where = (data["tag"], data["for_organisation"], data["target"])
        return Order(text, data["files"], *where, without_cache=data["without_cache"])

    def as_launch(self, key: str) -> Launch:
        values: dict[str, Any] = {name: value for name, value in self.validated_data.items() if name not in OWN}
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return Launch(**values, image_id=serializers.UUIDField().to_internal_value(NO_IMAGE), key=key)


class BuildStepSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField()
    text = serializers.CharField()
    stage = serializers.CharField(help_text="By its name or number; empty where the build is of before there were any.")


class BuildStageSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Its name, its number, or the image of which files are taken.")
    base = serializers.CharField(help_text="The image that it begins on.")


class PreviewOrderSerializer(serializers.Serializer[Any]):
    containerfile = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=MOST_BYTES)
    files = serializers.UUIDField(required=False, allow_null=True, default=None)
    target = serializers.CharField(required=False, allow_blank=True, max_length=60, default="")

    def as_order(self) -> Order:
        data = self.validated_data
        return Order(data["containerfile"], data["files"], target=data["target"])


class PlannedStageSerializer(BuildStageSerializer):
    steps = serializers.IntegerField(help_text="How many; none of an image of which files are taken.")
    takes_of = serializers.ListField(child=serializers.CharField(), help_text="Of which stages it takes files.")


class BuildSerializer(serializers.ModelSerializer[Build]):
    """One build with the state of its workload. `image`: what came of it, null until it is saved."""

    owner = serializers.CharField(source="owner.username")
    status = serializers.ChoiceField(source="workload.status", choices=Status.choices)
    reason = serializers.CharField(source="workload.reason")
    package = serializers.IntegerField(source="workload.package_id")
    reference = serializers.CharField(source="image.reference", default="")
    stages = BuildStageSerializer(
        many=True, help_text="What is carried out, in order; the last one makes the image. Unused stages are left out."
    )
    steps = BuildStepSerializer(many=True, source="steps_of_stages")
    failed_step = serializers.SerializerMethodField(help_text="Its number, from 1 on; null where none has failed.")
    cached_steps = serializers.SerializerMethodField(
        help_text="How many of its steps were taken from the cache; null until they are done."
    )
    problem = serializers.SerializerMethodField(help_text="Why what was built is not saved; empty otherwise.")
    sending = serializers.SerializerMethodField(
        help_text="What part of the image is in the registry by now; null unless it is being sent."
    )
    waits_for_equal = serializers.SerializerMethodField(
        help_text="It waits for an equal build of the organisation, whose steps it takes from the cache."
    )
    started_at = serializers.DateTimeField(source="workload.started_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="workload.ended_at", allow_null=True)

    class Meta:
        model = Build
        fields = (
            *("id", "name", "version", "owner", "workload", "status", "reason", "package", "base", "image"),
            *("reference", "containerfile", "stages", "steps", "failed_step", "cached_steps", "problem", "files"),
            *("target", "repository", "tag", "sending", "without_cache", "waits_for_equal"),
            *("created_at", "started_at", "ended_at"),
        )

    def get_failed_step(self, build: Build) -> int | None:
        told = None if build.workload.is_live or build.image_id else result(build)
        return (told.failed or None) if told else None

    def get_cached_steps(self, build: Build) -> int | None:
        told = result(build)
        return None if told is None else told.cached

    def get_sending(self, build: Build) -> float | None:
        return (build.sending["fraction"] or 0.0) if build.sending and build.workload.is_live else None

    def get_waits_for_equal(self, build: Build) -> bool:
        return build.is_held_back

    def get_problem(self, build: Build) -> str:
        return str(sentence(Said.from_json(build.problem))) if build.problem else ""


class CacheUseSerializer(serializers.Serializer[Any]):
    used_bytes = serializers.IntegerField(source="used")
    limit_bytes = serializers.IntegerField(source="limit", help_text="0: nothing is cached here.")
    steps = serializers.IntegerField()


class RecipeSerializer(serializers.Serializer[Any]):
    """A recipe of the platform's: a runtime that machines install, or a Containerfile to build."""

    key = serializers.CharField(help_text="That of its image, where it is a runtime.")
    name = serializers.CharField()
    group = serializers.ChoiceField(choices=[(group.value, group.value) for group in Group])
    description = serializers.CharField()
    is_runtime = serializers.BooleanField(help_text="Offered as an image; otherwise it has to be built first.")
    requirements = serializers.ListField(child=serializers.CharField())
    architectures = serializers.ListField(child=serializers.CharField(), help_text="Empty: any.")
    download_bytes = serializers.IntegerField(help_text="What pip downloads for x86-64; 0: not known, or nothing.")
    containerfile = serializers.CharField()
