"""How a volume or a version of a dataset is chosen in the API, by every kind of work."""

from typing import Any

from rest_framework import serializers

from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen


class ChosenSerializer(serializers.Serializer[Any]):
    """The counterpart of `MountsForm`; its value is a `Chosen`. A kind adds `read_only` with its own default."""

    kind = serializers.ChoiceField(choices=[RootKind.VOLUME.value, RootKind.VERSION.value])
    id = serializers.UUIDField()

    def to_internal_value(self, data: Any) -> Any:
        row = super().to_internal_value(data)
        return Chosen(RootKind(row["kind"]), row["id"], row["read_only"])
