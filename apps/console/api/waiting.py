"""/api/v1/workloads/…: why something waits, and starting it on a package on which it need not."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Conflict
from apps.common.idempotency import key_of
from apps.common.permissions import Permission
from apps.console.api.waiting_serializers import ExplanationSerializer
from apps.console.portal.switching import start_instead
from apps.workloads import selectors
from apps.workloads.choices import Status
from apps.workloads.launching.form import new_key
from apps.workloads.models import Workload
from apps.workloads.offers.alternatives import would_start_now
from apps.workloads.waiting import queue_card

VIEW = in_organisation(Permission.ORGANISATION_VIEW)


@extend_schema_serializer(component_name="StartedInstead")
class StartedSerializer(serializers.Serializer[Workload]):
    """The workload that has taken the place of the one that waited."""

    workload = serializers.UUIDField(source="pk", read_only=True)
    kind = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    package = serializers.IntegerField(source="package_id", read_only=True)
    status = serializers.ChoiceField(choices=Status.choices, read_only=True)


@extend_schema(tags=["workloads"], responses=ExplanationSerializer)
class Explanation(ScopedView):
    access = VIEW

    def get(self, request: Request, workload_id: UUID) -> Response:
        """Why it waits, who holds what, when it should start, on which packages it would start now.

        409 where it does not wait.
        """
        workload = selectors.get(self.actor, workload_id)
        if workload.status != Status.QUEUED:
            raise Conflict(_("It does not wait."))
        other = would_start_now(self.actor, workload, selectors.attempts(workload))
        report = queue_card(self.actor, workload)
        return Response(ExplanationSerializer(report, context={"alternatives": other.rows}).data)


@extend_schema(tags=["workloads"], request=None, responses={201: StartedSerializer})
class StartInstead(ScopedView):
    access = VIEW

    def post(self, request: Request, workload_id: UUID, package_id: int) -> Response:
        """Cancel what waits and start it on this package, in one step: a run as its next version, an environment with
        its package changed. 409 where it does not wait any more or would not start at once; then nothing happens."""
        workload = selectors.get(self.actor, workload_id)
        key = key_of(request._request) or new_key()
        started = start_instead(self.actor, workload, package_id=package_id, key=key)
        return Response(StartedSerializer(started).data, status=status.HTTP_201_CREATED)
