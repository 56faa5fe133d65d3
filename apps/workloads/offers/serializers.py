"""Several packages of which one is given, in the API."""

from typing import Any

from rest_framework import serializers

from apps.workloads.spec import MOST_MEMBERS

MAX_ID = 2**31 - 1


class MembersField(serializers.IntegerField):
    """How many programs start and end together, each on the package; at most `MOST_MEMBERS`."""

    def __init__(self, **options: Any) -> None:
        help_text = "Programs that start and end together, each on the package."
        super().__init__(min_value=1, max_value=MOST_MEMBERS, default=1, help_text=help_text, **options)


class LeastMembersField(serializers.IntegerField):
    """With how many of the members an elastic start begins, and goes on after a loss; null: with all or not at all."""

    def __init__(self, **options: Any) -> None:
        help_text = "It starts, and goes on after a loss, with so many where there is no room for all members."
        super().__init__(
            min_value=1, max_value=MOST_MEMBERS, required=False, allow_null=True, help_text=help_text, **options
        )


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


class OneMoreSerializer(serializers.Serializer[Any]):
    """An offer with one member more; `cards` and the rate are of all members."""

    members = serializers.IntegerField()
    cards = serializers.IntegerField()
    rate_fen_per_hour = serializers.DecimalField(max_digits=30, decimal_places=10)
    starts_now = serializers.BooleanField(source="forecast.starts_now")
    start_p50 = serializers.DateTimeField(source="forecast.start_p50", allow_null=True)
