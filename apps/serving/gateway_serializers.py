"""What the API of the organisation's own address reads and writes."""

from dataclasses import replace
from typing import Any

from rest_framework import serializers

from apps.serving.keys import MOST_MODEL_NAMES, MOST_TOKENS_PER_MINUTE, KeyDraft
from apps.serving.model_names import LONGEST_UPSTREAM, NameDraft
from apps.serving.models import ModelName, ServiceKey
from apps.serving.serializers import NewServiceKeySerializer, ServiceKeySerializer


class ModelNameSerializer(serializers.ModelSerializer[ModelName]):
    """`upstream`: what the service calls the model; empty: the same. `fallback`: the name that answers instead."""

    fallback = serializers.CharField(source="fallback.name", default=None, allow_null=True, read_only=True)

    class Meta:
        model = ModelName
        fields = ("id", "name", "service", "upstream", "fallback", "author", "created_at")


class NewModelNameSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    service = serializers.UUIDField()
    upstream = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_UPSTREAM, default="")
    fallback = serializers.CharField(required=False, allow_blank=True, max_length=100, default="")

    def draft(self) -> NameDraft:
        data = self.validated_data
        return NameDraft(data["name"], data["upstream"], data["fallback"])


class GatewayKeySerializer(ServiceKeySerializer):
    """`model_names`: those that it is for; empty: all. `tokens_per_minute`: the most tokens, in and out."""

    class Meta:
        model = ServiceKey
        fields = (*ServiceKeySerializer.Meta.fields, "tokens_per_minute", "model_names")


class NewGatewayKeySerializer(NewServiceKeySerializer):
    tokens_per_minute = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MOST_TOKENS_PER_MINUTE
    )
    model_names = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, max_length=MOST_MODEL_NAMES
    )

    def draft(self) -> KeyDraft:
        data = self.validated_data
        names, tokens = tuple(data.get("model_names", ())), data.get("tokens_per_minute")
        return replace(super().draft(), model_names=names, tokens_per_minute=tokens)
