"""The longest run times as an organisation's people and the platform's staff read them."""

from typing import Any

from rest_framework import serializers


class RunTimeOut(serializers.Serializer[Any]):
    """`longest_s` null: however long. `own` false: the platform's default. `beyond`: how much may run for longer."""

    kind = serializers.CharField(source="rules.name", read_only=True, help_text="Of work, as in `workloads`.")
    longest_s = serializers.IntegerField(source="limit.longest_s", allow_null=True, read_only=True)
    own = serializers.BooleanField(source="limit.own", read_only=True)
    default_s = serializers.IntegerField(allow_null=True, read_only=True)
    beyond = serializers.IntegerField(read_only=True)
