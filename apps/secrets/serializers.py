"""How the API names the secrets that work is given."""

from typing import Any

from rest_framework import serializers

from apps.secrets.choosing import ChosenSecret


class SecretUseSerializer(serializers.Serializer[Any]):
    """The id of a secret, and a variable, or a file below /run/secrets. Without both: the variable of its own name."""

    secret = serializers.UUIDField()
    variable = serializers.CharField(required=False, allow_blank=True, max_length=100, default="")
    file = serializers.CharField(required=False, allow_blank=True, max_length=100, default="")

    def to_internal_value(self, data: Any) -> Any:
        """A `ChosenSecret`."""
        row = super().to_internal_value(data)
        return ChosenSecret(row["secret"], row["variable"], row["file"])
