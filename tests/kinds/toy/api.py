"""Winding up a toy by the API: what every kind asks, and what it says."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.workloads.launching.form import new_key
from apps.workloads.launching.request import Launch
from apps.workloads.launching.serializers import LaunchSerializer
from apps.workloads.replicas.api import ReplicaSetView
from tests.kinds.toy.kind import PLAY, VIEW
from tests.kinds.toy.services import wind_up


class Band(ReplicaSetView):
    access = {"get": in_organisation(VIEW), "patch": in_organisation(PLAY), "delete": in_organisation(PLAY)}


class WindUpSerializer(LaunchSerializer):
    says = serializers.CharField(default="clap clap")


class Toys(ScopedView):
    access = in_organisation(PLAY)

    @extend_schema(request=WindUpSerializer, responses={201: None})
    def post(self, request: Request) -> Response:
        """Wind one up."""
        asked = WindUpSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.launch_values()
        says = values.pop("says")
        toy = wind_up(self.actor, Launch(**values, key=new_key()), says=says)
        return Response({"id": toy.pk}, status=status.HTTP_201_CREATED)
