"""Fields of API answers that hold what a driver says, in the reader's language."""

from typing import Any

from rest_framework import serializers

from apps.workloads.words import isolation_words, recorded


class ProgressField(serializers.JSONField):
    """Of an attempt: {"text", "fraction"}, empty where nothing is under way."""

    def to_representation(self, value: Any) -> Any:
        return {"text": recorded(value), "fraction": value.get("fraction")} if value else {}


class IsolationReasonField(serializers.CharField):
    """Of a node."""

    def to_representation(self, value: str) -> str:
        return isolation_words(value)
