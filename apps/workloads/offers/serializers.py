"""Several packages of which one is given, in the API."""

from typing import Any

from rest_framework import serializers

MAX_ID = 2**31 - 1


class AlsoField(serializers.ListField):
    """Ids of other packages that would do: it starts on whichever has room first, at that one's price."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        kwargs.setdefault("max_length", 4)
        kwargs.setdefault("help_text", "Other packages that would do; the one that it is given is charged.")
        super().__init__(child=serializers.IntegerField(min_value=1, max_value=MAX_ID), **kwargs)


class ChoiceSerializer(serializers.Serializer[Any]):
    """One package that would do, with its price as it would be locked."""

    package = serializers.IntegerField(source="package.pk")
    gpu_model = serializers.CharField(source="package.gpu_model")
    rate_fen_per_hour = serializers.DecimalField(source="quote.rate_fen_per_hour", max_digits=30, decimal_places=10)
    price_version = serializers.IntegerField(source="quote.price_number")
