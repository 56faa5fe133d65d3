"""/api/v1/workloads/<id>/ports/: what can be opened of running work, and who may."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.workloads.models import Workload
from apps.workloads.permissions import is_terminal_user, may_share_port
from apps.workloads.ports.places import PortState, port_places
from apps.workloads.ports.sharing import of_organisation, set_shared

IN_ORGANISATION = in_organisation(Permission.ORGANISATION_VIEW)


class PortSerializer(serializers.Serializer[Any]):
    """`url`: a page that leads a signed-in browser to the port's own origin. `shared`: with the whole organisation."""

    name = serializers.CharField(source="port.name")
    number = serializers.IntegerField(source="port.number")
    rank = serializers.IntegerField(source="port.rank")
    label = serializers.CharField(source="port.label")  # type: ignore[assignment]
    state = serializers.ChoiceField(choices=[(state.value, state.value) for state in PortState])
    url = serializers.CharField()
    shared = serializers.BooleanField()


class PortsSerializer(serializers.Serializer[Any]):
    ports = PortSerializer(many=True)


class SharedSerializer(serializers.Serializer[Any]):
    shared = serializers.BooleanField()


class WorkloadPorts(ScopedView):
    access = {"get": IN_ORGANISATION}

    @extend_schema(responses=PortsSerializer)
    def get(self, request: Request, workload_id: UUID) -> Response:
        """The ports named for it that the caller may open: all of its owner's, those shared of a colleague's."""
        workload = of_organisation(self.actor, workload_id)
        places = port_places(self.actor, workload)
        if not places and not is_terminal_user(self.actor, workload):
            raise NotFound
        return Response(PortsSerializer({"ports": places}).data)


class WorkloadPort(ScopedView):
    access = {"put": IN_ORGANISATION}

    @extend_schema(request=SharedSerializer, responses=PortsSerializer)
    def put(self, request: Request, workload_id: UUID, port: str) -> Response:
        """Share a port inside the organisation, or end that. For the owner alone; it ends with the work by itself."""
        may_share_port(self.actor, of_organisation(self.actor, workload_id))  # before what is asked is looked at
        asked = SharedSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        workload: Workload = set_shared(self.actor, workload_id, port, shared=asked.validated_data["shared"])
        return Response(PortsSerializer({"ports": port_places(self.actor, workload)}).data)
