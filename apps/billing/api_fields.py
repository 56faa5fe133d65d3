"""Fields of the API of money: fen are integers, rates and exact amounts decimal strings."""

from typing import Any

from rest_framework import serializers


def exact(**options: Any) -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=30, decimal_places=10, **options)
