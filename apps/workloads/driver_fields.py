"""Fields of API answers that hold what a driver says, in the reader's language."""

from typing import Any

from rest_framework import serializers

from apps.workloads.words import copied_so_far, isolation_words, recorded


class ProgressField(serializers.JSONField):
    """Of an attempt: {"text", "fraction", "left_s"}, empty where nothing is under way."""

    def to_representation(self, value: Any) -> Any:
        if not value:
            return {}
        text = copied_so_far(value) or recorded(value)
        return {"text": text, "fraction": value.get("fraction"), "left_s": value.get("left_s")}


class IsolationReasonField(serializers.CharField):
    """Of a node."""

    def to_representation(self, value: str) -> str:
        return isolation_words(value)
