"""What the API of models reads and writes. Sizes in bytes."""

from typing import Any

from rest_framework import serializers

from apps.common.verbatim import VerbatimField
from apps.modelhub import uses
from apps.modelhub.choices import Format, Source, VersionState
from apps.modelhub.models import Model, ModelVersion


class ModelSerializer(serializers.ModelSerializer[Model]):
    """`open_to_all`: everyone in the organisation may read it. `newest_version`: 0 without any."""

    owner = serializers.CharField(source="owner.username")
    newest_version = serializers.IntegerField(source="newest")

    class Meta:
        model = Model
        fields = (
            "id",
            "name",
            "note",
            "owner",
            "open_to_all",
            "newest_version",
            "created_at",
            "deleted_at",
            "purge_at",
        )


class NewModelSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    open_to_all = serializers.BooleanField(required=False, default=False)


class ChangeModelSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)
    open_to_all = serializers.BooleanField(required=False)


class NewModelVersionSerializer(serializers.Serializer[Any]):
    """From a folder or file of a volume, or all that was uploaded to the model's draft (no `volume`)."""

    volume = serializers.UUIDField(required=False)
    path = serializers.CharField(max_length=1024, required=False, allow_blank=True, default="")
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    framework = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")


class CardSerializer(serializers.Serializer[Any]):
    card = VerbatimField(allow_blank=True, max_length=100_000)


class TensorSerializer(serializers.Serializer[Any]):
    """As the Open Inference Protocol 2 describes one; -1 stands for a dimension that may be any."""

    name = serializers.CharField()
    datatype = serializers.CharField()
    shape = serializers.ListField(child=serializers.IntegerField())


class SignatureSerializer(serializers.Serializer[Any]):
    inputs = TensorSerializer(many=True, required=False)
    outputs = TensorSerializer(many=True, required=False)


class ModelVersionSerializer(serializers.ModelSerializer[ModelVersion]):
    """`digest`: SHA-256 of what `find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum` prints in it.

    `executes_code`: loading it runs code that its files contain. `workload`: of the run whose output it was.
    """

    model = serializers.UUIDField(source="model_id")
    name = serializers.CharField(source="model.name")
    state = serializers.ChoiceField(choices=VersionState.choices)
    format = serializers.ChoiceField(choices=Format.choices, allow_blank=True)
    came_from = serializers.ChoiceField(source="source", choices=Source.choices)
    signature = SignatureSerializer()
    facts = serializers.DictField()
    metrics = serializers.DictField(child=serializers.FloatField())
    workload = serializers.UUIDField(source="workload_id", allow_null=True)
    parent_version = serializers.UUIDField(source="parent_id", allow_null=True)
    datasets = serializers.SerializerMethodField()
    made_by = serializers.CharField(source="made_by.username")

    class Meta:
        model = ModelVersion
        fields = (
            *(
                "id",
                "model",
                "name",
                "number",
                "note",
                "card",
                "state",
                "error",
                "file_count",
                "total_bytes",
                "shared_bytes",
            ),
            *("digest", "format", "framework", "executes_code", "signature", "facts", "metrics", "came_from"),
            *(
                "source_name",
                "source_path",
                "workload",
                "parent_version",
                "datasets",
                "code_digest",
                "made_by",
                "created_at",
            ),
        )

    def get_datasets(self, version: ModelVersion) -> list[str]:
        return [data.name for data in version.training_data.all()]


class ModelUseSerializer(serializers.Serializer[uses.Use]):
    """`holds`: the version is not deleted meanwhile."""

    kind = serializers.CharField()
    name = serializers.CharField()
    holds = serializers.BooleanField()


class ModelVersionUsesSerializer(serializers.Serializer[Any]):
    version = ModelVersionSerializer()
    uses = ModelUseSerializer(many=True)
