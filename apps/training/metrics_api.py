"""Trying patterns over the API; points, names and curves are `apps.tracking`'s."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.permissions import Permission
from apps.tracking.collecting.trying import tried
from apps.training.metric_serializers import TriedSerializer, TrySerializer


class PatternTrial(ScopedView):
    access = in_organisation(Permission.TRAINING_SUBMIT)

    @extend_schema(request=TrySerializer, responses=TriedSerializer(many=True))
    def post(self, request: Request) -> Response:
        """What would be read of a sample of a log; nothing is kept."""
        asked = TrySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found = tried(asked.validated_data["patterns"], asked.validated_data["sample"])
        return Response(TriedSerializer(found, many=True).data)
